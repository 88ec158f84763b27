package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

/** What is known of attempts that have failed. */
class AttemptsTest {
  private final Attempts attempts = new Attempts();

  private static ConflictException of(long holder) {
    return new ConflictException(ConflictReason.ROW_IN_USE, "in use", holder);
  }

  private int failedBy(ConflictException conflict) {
    attempts.failed(conflict);
    return attempts.inARow();
  }

  @Test
  void in_a_row_are_those_with_the_same_transaction() {
    assertEquals(1, failedBy(of(7)));
    assertEquals(2, failedBy(of(7)));
    assertEquals(1, failedBy(of(8)));
    assertEquals(2, failedBy(of(8)));
    assertEquals(1, failedBy(of(7)));
    assertEquals(5, attempts.made());
  }

  @Test
  void in_a_row_are_those_for_the_same_reason() {
    assertEquals(1, failedBy(new ConflictException(ConflictReason.TABLE_IN_USE, "")));
    assertEquals(2, failedBy(new ConflictException(ConflictReason.TABLE_IN_USE, "")));
    assertEquals(1, failedBy(new DeadlockException("", /* isOwnThreads= */ false)));
    assertEquals("3 attempts (deadlock: 1, table in use: 2)", attempts.inWords());
  }

  @Test
  void the_last_one_is_kept() {
    assertNull(attempts.last());
    ConflictException last = of(9);
    attempts.failed(of(8));
    attempts.failed(last);
    assertSame(last, attempts.last());
  }
}
