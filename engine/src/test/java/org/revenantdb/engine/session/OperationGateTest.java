package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.recovery.testing.Await;

class OperationGateTest {
  private final OperationGate gate = new OperationGate();

  private static Thread startedAndWaiting(Runnable action) {
    Thread thread = Thread.ofPlatform().start(action);
    while (thread.getState() != Thread.State.WAITING
        && thread.getState() != Thread.State.TIMED_WAITING) {
      assertTrue(thread.isAlive(), "it did not wait");
      Await.pause();
    }
    return thread;
  }

  @Test
  void pause_waitsForThreadsInside_andKeepsOthersOut() throws InterruptedException {
    int stripe = gate.enter();
    CountDownLatch paused = new CountDownLatch(1);
    CountDownLatch looked = new CountDownLatch(1);
    Thread pauser =
        startedAndWaiting(() -> {
          gate.pause();
          paused.countDown();
          try {
            looked.await();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          gate.resume();
        });
    gate.exit(stripe);
    paused.await();
    Thread other = startedAndWaiting(() -> gate.exit(gate.enter()));
    looked.countDown();
    other.join();
    pauser.join();
  }

  @Test
  void a_second_pause_waits_for_the_first_and_no_thread_enters_in_between()
      throws InterruptedException {
    assertTrue(gate.pause());
    CountDownLatch second = new CountDownLatch(1);
    CountDownLatch looked = new CountDownLatch(1);
    Thread pauser =
        startedAndWaiting(() -> {
          gate.pause();
          second.countDown();
          try {
            looked.await();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          gate.resume();
        });
    gate.resume();
    second.await();
    // The first has resumed; the second still looks.
    Thread operation = startedAndWaiting(() -> gate.exit(gate.enter()));
    looked.countDown();
    operation.join();
    pauser.join();
  }

  @Test
  void close_waits_for_a_thread_that_reads_the_paused_database() throws InterruptedException {
    assertTrue(gate.pause());
    Thread closer = startedAndWaiting(gate::close);
    assertFalse(gate.isClosed());
    gate.resume();
    closer.join();
    assertTrue(gate.isClosed());
    assertFalse(gate.pause());
    assertFalse(gate.close());
    assertThrows(DatabaseClosedException.class, gate::enter);
  }
}
