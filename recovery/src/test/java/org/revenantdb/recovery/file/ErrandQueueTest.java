package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.recovery.testing.Await;

class ErrandQueueTest {
  private static final class Numbered extends Errand {
    final int number;

    Numbered(int number) {
      this.number = number;
    }
  }

  private final ErrandQueue<Numbered> queue = new ErrandQueue<>();
  private final List<Numbered> all = new ArrayList<>();

  private void push(int count) {
    for (int i = 0; i < count; i++) {
      Numbered errand = new Numbered(all.size());
      all.add(errand);
      queue.push(errand);
    }
  }

  private List<Integer> numbers() {
    List<Integer> numbers = new ArrayList<>();
    for (Numbered errand = queue.first(); errand != null; errand = queue.after(errand)) {
      numbers.add(errand.number);
    }
    return numbers;
  }

  @Test
  void take_ofAnEmptyQueue_isNull() {
    assertTrue(queue.isEmpty());
    assertNull(queue.first());
    assertNull(queue.take());
    queue.finishAll(new Error());
    queue.finishIf(errand -> true);
    assertTrue(queue.isEmpty());
  }

  @Test
  void take_isInTheOrderOfPush_andAnEmptiedQueueGoesOn() {
    push(3);
    assertEquals(List.of(0, 1, 2), numbers());
    assertEquals(0, queue.first().number);
    for (int i = 0; i < 3; i++) {
      assertFalse(queue.isEmpty());
      assertEquals(i, queue.take().number);
    }
    assertTrue(queue.isEmpty());
    push(2);
    assertEquals(List.of(3, 4), numbers());
  }

  @Test
  void take_leavesNoWayFromTheTakenToTheOthers() {
    push(2);
    assertNull(queue.after(queue.take()));
  }

  /** Each subset of five: of the first, of the last, of all, of none. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16, 17, 21, 24, 27, 28, 30, 31})
  void finishIf_takesThoseOut_keepsTheOthersInOrder_andPushGoesOnBehindThem(int subset) {
    push(5);
    queue.finishIf(errand -> (subset >> errand.number & 1) != 0);
    push(1);
    List<Integer> left = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      if (i == 5 || (subset >> i & 1) == 0) {
        left.add(i);
      } else {
        assertNull(all.get(i).await());
      }
    }
    assertEquals(left, numbers());
  }

  @Test
  void finishAll_givesEachTheCause() {
    push(4);
    Error cause = new Error();
    queue.finishAll(cause);
    all.forEach(errand -> assertSame(cause, errand.await()));
    assertTrue(queue.isEmpty());
  }

  @Test
  void await_ofAnInterruptedCaller_waitsForTheEndAndKeepsTheInterrupt() throws Exception {
    AtomicReference<Errand> mine = new AtomicReference<>();
    CountDownLatch made = new CountDownLatch(1);
    AtomicReference<Boolean> interrupted = new AtomicReference<>();
    Thread caller =
        Thread.ofPlatform()
            .start(() -> {
              Errand errand = new Errand();
              mine.set(errand);
              Thread.currentThread().interrupt();
              made.countDown();
              errand.await();
              interrupted.set(Thread.currentThread().isInterrupted());
            });
    made.await();
    while (caller.getState() != Thread.State.TIMED_WAITING) {
      Await.pause(); // until the interrupt has been taken and it waits all the same
    }
    mine.get().finish(null);
    caller.join();
    assertTrue(interrupted.get());
  }
}
