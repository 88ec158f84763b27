package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order of those who wait for a frame, and when there is no hope. */
@Tag("stress")
class FrameWaitersTest {
  private static final int LOOKS = 2_000;

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000); // it wraps around
  private final FrameWaiters waiters = new FrameWaiters(now::get);

  private void pass(long seconds) {
    now.getAndAdd(TimeUnit.SECONDS.toNanos(seconds));
  }

  /** Looks in vain. */
  private boolean look(FrameWaiters.Waiter waiter, int times) {
    boolean isHopeless = false;
    for (int i = 0; i < times; i++) {
      isHopeless = waiters.isHopeless(waiter);
    }
    return isHopeless;
  }

  @Test
  void a_minute_without_many_looks_is_not_hopeless() {
    FrameWaiters.Waiter waiter = waiters.enter();
    pass(3_600);
    assertFalse(look(waiter, LOOKS - 1));
    assertTrue(look(waiter, 1));
  }

  @Test
  void many_looks_in_less_than_a_minute_are_not_hopeless() {
    FrameWaiters.Waiter waiter = waiters.enter();
    pass(60);
    assertFalse(look(waiter, 10 * LOOKS));
    pass(1);
    assertTrue(look(waiter, 1));
  }

  @Test
  void as_long_as_others_are_served_there_is_hope() {
    FrameWaiters.Waiter waiter = waiters.enter();
    pass(61);
    FrameWaiters.Waiter other = waiters.enter();
    assertFalse(look(waiter, LOOKS - 1));
    waiters.leave(other, /* isServed= */ true);
    assertFalse(look(waiter, LOOKS));
    pass(61);
    assertTrue(look(waiter, 1));
  }

  @Test
  void who_comes_when_there_is_no_hope_waits_a_minute_himself() {
    FrameWaiters.Waiter waiter = waiters.enter();
    pass(61);
    assertTrue(look(waiter, LOOKS));
    FrameWaiters.Waiter other = waiters.enter();
    waiters.leave(waiter, /* isServed= */ false);
    assertFalse(look(other, 1));
    pass(61);
    assertTrue(look(other, 1));
  }

  /** One signal for many frames: each that leaves wakes the next. */
  @ParameterizedTest
  @ValueSource(ints = {1, 60})
  void all_are_served_whether_each_frame_is_signalled_or_all_at_once(int atOnce)
      throws InterruptedException {
    int threads = 60;
    Semaphore frames = new Semaphore(0);
    List<Thread> started = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      started.add(Thread.ofPlatform().start(() -> waitForOne(frames)));
    }
    for (int i = 0; i < threads; i += atOnce) {
      frames.release(atOnce);
      waiters.signal();
    }
    for (Thread thread : started) {
      thread.join();
    }
    assertEquals(0, frames.availablePermits());
    assertFalse(waiters.any());
  }

  private void waitForOne(Semaphore frames) {
    FrameWaiters.Waiter me = waiters.enter();
    for (long seen = waiters.generation(); !frames.tryAcquire(); seen = waiters.generation()) {
      waiters.await(me, seen, TimeUnit.MILLISECONDS.toNanos(5));
    }
    waiters.leave(me, /* isServed= */ true);
  }

  @Test
  void an_interrupt_is_kept_until_the_wait_ends() {
    FrameWaiters.Waiter me = waiters.enter();
    Thread.currentThread().interrupt();
    waiters.await(me, waiters.generation(), TimeUnit.MILLISECONDS.toNanos(1));
    assertFalse(Thread.currentThread().isInterrupted());
    waiters.leave(me, /* isServed= */ false);
    assertTrue(Thread.interrupted());
  }
}
