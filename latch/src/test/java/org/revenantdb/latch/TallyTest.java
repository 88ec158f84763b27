package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TallyTest {
  @Test
  void sum_isWhatWasAdded() {
    Tally tally = new Tally();
    assertEquals(0, tally.sum());
    tally.increment();
    tally.increment();
    tally.decrement();
    tally.add(40);
    tally.add(-50);
    assertEquals(-9, tally.sum());
    assertEquals("-9", tally.toString());
  }

  @Test
  void sum_afterManyThreads_hasLostNothing() throws InterruptedException {
    Tally tally = new Tally();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                for (int n = 0; n < 50_000; n++) {
                  tally.add(3);
                  tally.decrement();
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(8 * 50_000 * 2, tally.sum());
  }

  /** What was counted where the stack ends is counted once, or the call has thrown. */
  private static int countToTheEnd(Tally tally) {
    int counted = 0;
    try {
      counted = countToTheEnd(tally);
    } catch (StackOverflowError end) {
      // Back up, counting on the way.
    }
    try {
      tally.increment();
      counted++;
    } catch (StackOverflowError notEvenCalled) {
      // Its own frame does not fit.
    }
    return counted;
  }

  @Test
  void increment_whereTheStackEnds_isCountedOnceOrThrows() throws InterruptedException {
    Tally tally = new Tally();
    int[] counted = new int[1];
    Thread thread =
        new Thread(null, () -> counted[0] = countToTheEnd(tally), "deep", /* stackSize= */ 1 << 18);
    thread.start();
    thread.join();
    assertEquals(counted[0], tally.sum());
  }
}
