package org.revenantdb.collections.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Requests that one thread carries out for others. */
class CombinerTest {
  private static final int OTHERS = 3;

  private static final class Asked extends Combiner.Request {
    int done;
  }

  private final List<Integer> batches = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch firstIsInside = new CountDownLatch(1);
  private final CountDownLatch othersWait = new CountDownLatch(1);
  private final List<Asked> asked = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private boolean leaderWasInterrupted;

  /** The first thread leads, and does not go on before the others wait. */
  private void run(Combiner<Asked> combiner) throws InterruptedException {
    Thread leader =
        new Thread(() -> {
          Thread.currentThread().interrupt();
          combiner.carryOut(request());
          leaderWasInterrupted = Thread.interrupted();
        });
    leader.start();
    firstIsInside.await();
    for (int i = 0; i < OTHERS; i++) {
      Thread other = new Thread(() -> combiner.carryOut(request()));
      other.start();
      threads.add(other);
    }
    for (Thread other : threads) {
      while (other.getState() != Thread.State.WAITING) {
        LockSupport.parkNanos(100_000);
      }
    }
    othersWait.countDown();
    leader.join();
    for (Thread other : threads) {
      other.join();
    }
  }

  private Asked request() {
    Asked request = new Asked();
    synchronized (asked) {
      asked.add(request);
    }
    return request;
  }

  private void carryOut(List<Asked> batch) {
    batches.add(batch.size());
    if (firstIsInside.getCount() > 0) {
      assertTrue(!Thread.currentThread().isInterrupted(), "an interrupt says nothing to others");
      firstIsInside.countDown();
      try {
        othersWait.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    batch.forEach(each -> each.done++);
  }

  @Test
  void those_that_wait_are_carried_out_together() throws InterruptedException {
    run(new Combiner<>(this::carryOut, failure -> false));
    assertEquals(List.of(1, OTHERS), batches);
    asked.forEach(each -> assertEquals(1, each.done));
    assertTrue(leaderWasInterrupted, "the leader stays interrupted");
  }

  @Test
  void a_batch_that_fails_is_carried_out_one_by_one_and_fails_nobody() throws InterruptedException {
    run(
        new Combiner<>(
            batch -> {
              if (batch.size() > 1) {
                batches.add(batch.size());
                throw new IllegalStateException("a conflict");
              }
              carryOut(batch);
            },
            failure -> failure instanceof IllegalStateException));
    assertEquals(List.of(1, OTHERS, 1, 1, 1), batches);
    for (Asked each : asked) {
      assertEquals(1, each.done);
      assertNull(each.failure());
    }
  }

  @Test
  void a_failure_that_may_not_be_repeated_is_that_of_all() throws InterruptedException {
    IllegalStateException unknown = new IllegalStateException("the outcome is unknown");
    run(
        new Combiner<>(
            batch -> {
              if (batch.size() > 1) {
                throw unknown;
              }
              carryOut(batch);
            },
            failure -> false));
    assertEquals(OTHERS, asked.stream().filter(each -> each.failure() == unknown).count());
    assertEquals(0, asked.stream().filter(each -> each.failure() != null && each.done > 0).count());
  }
}
