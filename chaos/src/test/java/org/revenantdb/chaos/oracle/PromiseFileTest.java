package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.trace.TraceClock;

class PromiseFileTest {

  private static PromiseLog log() {
    PromiseLog log = new PromiseLog();
    Promises promises = log.promises(new TraceClock(), 1);
    promises.durable("k", "1");
    promises.begin().put("a", null).put("b", "2").committing().lazy();
    PromiseLog next = log.before(Long.MAX_VALUE);
    next.promises(new TraceClock(), 2).durableRead("b", "2");
    return next;
  }

  private static byte[] written(PromiseLog log) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    log.writeTo(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private static PromiseLog read(byte[] bytes) throws IOException {
    return PromiseLog.readFrom(new DataInputStream(new ByteArrayInputStream(bytes)));
  }

  @Test
  void log_writtenAndRead_isEqual() throws IOException {
    PromiseLog log = log();
    PromiseLog again = read(written(log));
    assertEquals(log.events(), again.events());
    assertEquals(log.answerCount(2), again.answerCount(2));
    assertFalse(again.isCutOffByDeath());
    assertTrue(read(written(log.cutOffByDeath())).isCutOffByDeath());
    assertTrue(read(written(new PromiseLog())).isEmpty());
  }

  @Test
  void log_afterReading_leavesWhatFollows() throws IOException {
    byte[] bytes = written(log());
    DataInputStream source =
        new DataInputStream(
            new ByteArrayInputStream(Arrays.copyOf(bytes, bytes.length + Long.BYTES)));
    PromiseLog.readFrom(source);
    assertEquals(Long.BYTES, source.available());
  }

  @Test
  void log_withAnyByteChanged_isRefused() throws IOException {
    byte[] bytes = written(log());
    for (int i = 0; i < bytes.length; i++) {
      byte[] damaged = bytes.clone();
      damaged[i] ^= 0x10;
      IOException refusal = assertThrows(IOException.class, () -> read(damaged), "byte " + i);
      assertTrue(String.valueOf(refusal.getMessage()).contains("log of promises"));
    }
  }

  @Test
  void log_cutAnywhere_isRefused() throws IOException {
    byte[] bytes = written(log());
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      IOException refusal = assertThrows(IOException.class, () -> read(cut), "length " + length);
      assertEquals("the log of promises is cut short", refusal.getMessage());
    }
  }

  @Test
  void file_ofAnotherKind_isRefused() {
    IOException refusal = assertThrows(IOException.class, () -> read(new byte[100]));
    assertEquals("this is not a log of promises", refusal.getMessage());
  }
}
