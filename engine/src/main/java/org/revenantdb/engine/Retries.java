package org.revenantdb.engine;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/** Counts the attempts of {@link Database#run} that fail, of one database. Thread-safe. */
final class Retries {
  private final LongAdder[] failures = new LongAdder[ConflictReason.values().length];
  private final LongAdder gaveUp = new LongAdder();

  Retries() {
    Arrays.setAll(failures, reason -> new LongAdder());
  }

  /** An attempt has met a conflict. */
  void failed(ConflictReason reason) {
    failures[reason.ordinal()].increment();
  }

  /** There is no other attempt. */
  void gaveUp() {
    gaveUp.increment();
  }

  RetryStatistics statistics(long ceiling) {
    long[] failed = new long[failures.length];
    long ended = gaveUp.sum(); // before what failed, of which it is a part
    Arrays.setAll(failed, reason -> failures[reason].sum());
    return new RetryStatistics(
        Arrays.stream(failed).sum() - ended,
        ended,
        failed[ConflictReason.ROW_IN_USE.ordinal()],
        failed[ConflictReason.ROW_CHANGED.ordinal()],
        failed[ConflictReason.NOT_SERIALIZABLE.ordinal()],
        failed[ConflictReason.DEADLOCK.ordinal()],
        failed[ConflictReason.LOCK_TIMEOUT.ordinal()],
        failed[ConflictReason.TABLE_IN_USE.ordinal()],
        failed[ConflictReason.TABLE_CHANGED.ordinal()],
        ceiling);
  }
}
