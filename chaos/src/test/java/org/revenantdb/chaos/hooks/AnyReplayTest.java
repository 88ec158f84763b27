package org.revenantdb.chaos.hooks;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class AnyReplayTest {
  @Test
  void a_port_in_use_is_told_before_the_store_is_opened() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();
      IOException refused = assertThrows(IOException.class, () -> AnyReplay.demandFree(port));
      assertTrue(refused.getMessage().contains("port " + port), refused.getMessage());
    }
  }
}
