package org.revenantdb.engine.session;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.latch.Tally;

/** Counts the failed attempts of {@link Database#run} of one database. Thread-safe. */
public final class Retries {
  /** The counters for each reason; the map is not changed any more. */
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

  /** Counts an attempt that has met a conflict. */
  void failed(ConflictReason reason) {
    of(reason).increment();
  }

  /** Counts a call that has ended with a conflict. */
  void gaveUp() {
    gaveUp.increment();
  }

  /**
   * The counts of one moment.
   *
   * @param gaveUp calls of {@link Database#run} that ended with a conflict
   * @param failures attempts that failed, by reason; those of these calls are among them
   */
  public record Counts(long gaveUp, Map<ConflictReason, Long> failures) {
    /** Attempts that failed for a reason. */
    public long failed(ConflictReason reason) {
      return failures.getOrDefault(reason, 0L);
    }

    /** Attempts that were followed by another one. */
    public long repeated() {
      return failures.values().stream().mapToLong(Long::longValue).sum() - gaveUp;
    }
  }

  public Counts counts() {
    long ended = gaveUp.sum(); // before the failed ones, of which it is a part
    Map<ConflictReason, Long> failed = new EnumMap<>(ConflictReason.class);
    failures.forEach((reason, count) -> failed.put(reason, count.sum()));
    return new Counts(ended, failed);
  }
}
