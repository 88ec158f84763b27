package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.access.ApiAccess;

/** What is known of attempts that have failed. */
class AttemptsTest {
  private long now;
  private final Attempts attempts = new Attempts(Duration.ofSeconds(30), 1_000, () -> now);

  private static ConflictException of(long holder) {
    return ApiAccess.api().conflict(ConflictReason.ROW_IN_USE, "in use", "", holder);
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
    assertEquals(1, failedBy(ApiAccess.api().conflict(ConflictReason.TABLE_IN_USE, "", "", 0)));
    assertEquals(2, failedBy(ApiAccess.api().conflict(ConflictReason.TABLE_IN_USE, "", "", 0)));
    assertEquals(1, failedBy(ApiAccess.api().deadlock("", "", 0)));
    assertEquals(
        "gave up after 3 attempts in 0.000 s (deadlock: 1, table in use: 2); another attempt would meet the same conflict",
        attempts.inWords());
  }

  @Test
  void the_last_one_is_kept() {
    assertNull(attempts.last());
    ConflictException last = of(9);
    attempts.failed(of(8));
    attempts.failed(last);
    assertSame(last, attempts.last());
  }

  @Test
  void it_is_too_late_when_the_time_is_over_since_the_first_failed() {
    attempts.failed(of(8));
    now = Duration.ofSeconds(30).toNanos() - 1;
    assertFalse(attempts.areLate());
    now++;
    assertTrue(attempts.areLate());
    assertEquals(
        "gave up after 1 attempt in 30.000 s (row in use: 1); let the transactions that hold the row or table end"
            + " sooner, or set a higher limit: withRetryTimeout is 30.000 s, withMaxAttempts 1000",
        attempts.inWords());
  }
}
