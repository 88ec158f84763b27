package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.testing.Await;

/** The pause in which the ring of a log buffer is replaced (§46). */
class LogBufferPauseTest {
  private static final int CAPACITY = 4096;
  private static final int LENGTH = 512;
  private static final long STOPPED = LogBuffer.STOPPED;

  private final MemorySegment ring = Arena.ofAuto().allocate(CAPACITY);
  private final LogBuffer buffer = new LogBuffer(ring, CAPACITY);

  @Test
  void a_reservation_waits_and_gets_the_place_that_it_would_have_had() throws Exception {
    buffer.reserve(LENGTH);
    assertEquals(CAPACITY + LENGTH, buffer.pause());
    FutureTask<Long> waiting = new FutureTask<>(() -> buffer.reserve(LENGTH));
    Thread thread = Thread.ofPlatform().start(waiting);
    while (buffer.rawTail() < LogBuffer.PAUSED + CAPACITY + 2 * LENGTH) {
      Await.pause(); // until it has tried
    }
    assertFalse(waiting.isDone());
    assertEquals(CAPACITY + LENGTH, buffer.tailVolatile());
    MemorySegment other = Arena.ofAuto().allocate(CAPACITY);
    assertSame(ring, buffer.replace(other));
    buffer.resume();
    assertEquals(CAPACITY + LENGTH, waiting.get());
    thread.join();
    assertSame(other, buffer.ring());
    assertEquals(CAPACITY + 2 * LENGTH, buffer.tailVolatile());
  }

  @Test
  void a_stop_ends_the_pause_at_the_tail_that_it_had() throws Exception {
    buffer.reserve(LENGTH);
    assertEquals(CAPACITY + LENGTH, buffer.pause());
    FutureTask<Long> waiting = new FutureTask<>(() -> buffer.reserve(LENGTH));
    Thread thread = Thread.ofPlatform().start(waiting);
    while (buffer.rawTail() < LogBuffer.PAUSED + CAPACITY + 2 * LENGTH) {
      Await.pause();
    }
    assertEquals(CAPACITY + LENGTH, buffer.stop());
    assertTrue(waiting.get() >= STOPPED, "nothing was reserved");
    thread.join();
    buffer.resume();
    assertTrue(buffer.tailVolatile() >= STOPPED, "it stays stopped");
    assertEquals(STOPPED, buffer.pause());
  }
}
