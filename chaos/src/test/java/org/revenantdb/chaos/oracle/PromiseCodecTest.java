package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.oracle.PromiseEvent.Crash;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.trace.TraceClock;

class PromiseCodecTest {

  /** One event of every kind, with texts, bytes, no value and the empty value. */
  private static List<PromiseEvent> everything() {
    List<PromiseEvent> events = new ArrayList<>();
    Promises promises = new PromiseLog(events::add).promises(new TraceClock(), 1);
    promises.attempt("schlüssel", "v");
    promises.attempt(new byte[] {0, -1}, null);
    promises.durable("k", "");
    promises.lazy("", null);
    promises.durableRead("k", "v");
    promises.allDurable();
    promises.begin().put("a", "b").put(new byte[] {1}, null).committing().durable();
    promises.begin().lazy();
    promises.begin().rolledBack();
    events.add(new Crash(true));
    events.add(new Crash(false));
    return events;
  }

  @Test
  void decode_ofEncoded_isEqual() {
    for (PromiseEvent event : everything()) {
      byte[] bytes = event.encode();
      ByteBuffer source = ByteBuffer.wrap(Arrays.copyOf(bytes, bytes.length + 7));
      source.order(ByteOrder.LITTLE_ENDIAN);
      assertEquals(event, PromiseEvent.decode(source));
      assertEquals(bytes.length, source.position(), "it ends where the event ends");
      assertEquals(ByteOrder.LITTLE_ENDIAN, source.order());
    }
  }

  @Test
  void decode_ofEveryPrefix_isRefused() {
    for (PromiseEvent event : everything()) {
      byte[] bytes = event.encode();
      for (int length = 0; length < bytes.length; length++) {
        ByteBuffer source = ByteBuffer.wrap(bytes, 0, length);
        assertThrows(IllegalArgumentException.class, () -> PromiseEvent.decode(source));
      }
    }
  }

  @Test
  void decode_ofUnknownTag_isRefused() {
    byte[] bytes = new byte[64];
    bytes[0] = 0x7F;
    assertThrows(IllegalArgumentException.class, () -> PromiseEvent.decode(ByteBuffer.wrap(bytes)));
  }

  @Test
  void log_keepsEventsAndPassesThemOn() {
    List<PromiseEvent> heard = new ArrayList<>();
    PromiseLog log = PromiseLog.of(everything()).listener(heard::add);
    int before = log.events().size();
    log.promises(new TraceClock(), 1).durable("k", "v");
    assertEquals(before + 1, log.events().size());
    assertEquals(List.of(log.events().getLast()), heard);
    assertFalse(log.isEmpty());
  }

  @Test
  void bytes_inMessages_areTextOrHex() {
    assertEquals("\"grün\"", Bytes.of("grün").toString());
    assertEquals("0x00ff", Bytes.of(new byte[] {0, -1}).toString());
    assertEquals("\"" + "x".repeat(60) + "…\" (100 bytes)", Bytes.of("x".repeat(100)).toString());
  }
}
