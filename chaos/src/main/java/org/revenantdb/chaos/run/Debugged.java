package org.revenantdb.chaos.run;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A forked JVM that stops before a store is opened, until a debugger is connected. */
public final class Debugged {

  /** The limit of a step while a person looks at it. */
  public static final Duration LIMIT = Duration.ofDays(1);

  private Debugged() {}

  /**
   * Returns the flags of such a JVM.
   *
   * @param others further flags
   * @param port on this machine
   * @return all flags
   * @throws IOException with a message for people, if the port is in use
   */
  public static List<String> flags(List<String> others, int port) throws IOException {
    demandFree(port);
    List<String> all = new ArrayList<>(others);
    all.add("-D" + WorkerMain.STOP + "=true");
    // With "onthrow" the JVM runs to the exception at full speed, and only then waits. The option
    // needs a program to launch; "true" does nothing.
    all.add(
        "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,quiet=y,address=localhost:%d,onthrow=%s,launch=true"
            .formatted(port, WorkerMain.BEFORE_OPEN));
    return all;
  }

  /** Or the JVM that cannot listen would look like a store that cannot be opened. */
  private static void demandFree(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    } catch (IOException e) {
      throw new IOException(
          "a debugger cannot be awaited at port %d (%s): choose another port"
              .formatted(port, e.getMessage()),
          e);
    }
  }
}
