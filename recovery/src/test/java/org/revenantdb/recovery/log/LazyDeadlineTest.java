package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LazyDeadlineTest {
  private final LazyDeadline deadline = new LazyDeadline();
  private long now = 1_000;
  private int looks;

  private boolean request(long nanos) {
    return deadline.request(
        nanos,
        () -> {
          looks++;
          return now;
        });
  }

  @Test
  void request_firstOne_isForTheWriter() {
    assertTrue(request(100));
    assertEquals(100, deadline.left(now, Long.MAX_VALUE));
  }

  @Test
  void request_afterAnEarlierOne_needsNoClock() {
    request(100);
    now += 50;
    assertFalse(request(100));
    assertFalse(request(200));
    assertEquals(1, looks);
    assertEquals(50, deadline.left(now, Long.MAX_VALUE));
  }

  @Test
  void request_soonerThanAnEarlierOne_movesTheDeadline() {
    request(100);
    now += 50;
    assertTrue(request(10));
    assertEquals(10, deadline.left(now, Long.MAX_VALUE));
  }

  @Test
  void request_afterALongOneAndAShortOne_readsTheClock() {
    request(1_000);
    request(10);
    now += 5;
    looks = 0;
    assertFalse(request(100)); // without a clock, the deadline could be the long one
    assertEquals(1, looks);
    assertEquals(5, deadline.left(now, Long.MAX_VALUE));
  }

  @Test
  void request_soonerThanTheLongOneThatIsSet_setsADeadlineOfItsOwn() {
    request(10);
    deadline.take();
    request(1_000);
    assertTrue(request(10));
    assertEquals(10, deadline.left(now, Long.MAX_VALUE));
  }

  @Test
  void request_whenItWasTaken_isForTheWriterAgain() {
    request(100);
    assertTrue(deadline.take());
    assertFalse(deadline.take());
    now += 7;
    assertTrue(request(100));
    assertEquals(100, deadline.left(now, Long.MAX_VALUE));
  }
}
