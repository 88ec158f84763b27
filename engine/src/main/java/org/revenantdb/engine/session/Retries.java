package org.revenantdb.engine.session;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RetryStatistics;
import org.revenantdb.latch.Tally;

/** Counts the attempts of {@link Database#run} that fail, of one database. Thread-safe. */
public final class Retries {
  /** Of each reason; not changed any more. */
  private final Map<ConflictReason, Tally> failures = new EnumMap<>(ConflictReason.class);

  private final Tally gaveUp = new Tally();

  Retries() {
    for (ConflictReason reason : ConflictReason.values()) {
      failures.put(reason, new Tally());
    }
  }

  private Tally of(ConflictReason reason) {
    return Objects.requireNonNull(failures.get(reason));
  }

  /** An attempt has met a conflict. */
  void failed(ConflictReason reason) {
    of(reason).increment();
  }

  /** There is no other attempt. */
  void gaveUp() {
    gaveUp.increment();
  }

  public RetryStatistics statistics(long ceiling) {
    long ended = gaveUp.sum(); // before what failed, of which it is a part
    Map<ConflictReason, Long> failed = new EnumMap<>(ConflictReason.class);
    failures.forEach((reason, count) -> failed.put(reason, count.sum()));
    return new RetryStatistics(
        failed.values().stream().mapToLong(Long::longValue).sum() - ended,
        ended,
        failed.getOrDefault(ConflictReason.ROW_IN_USE, 0L),
        failed.getOrDefault(ConflictReason.ROW_CHANGED, 0L),
        failed.getOrDefault(ConflictReason.NOT_SERIALIZABLE, 0L),
        failed.getOrDefault(ConflictReason.DEADLOCK, 0L),
        failed.getOrDefault(ConflictReason.LOCK_TIMEOUT, 0L),
        failed.getOrDefault(ConflictReason.TABLE_IN_USE, 0L),
        failed.getOrDefault(ConflictReason.TABLE_CHANGED, 0L),
        ceiling);
  }
}
