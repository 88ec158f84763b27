package org.revenantdb.engine;

import java.time.Instant;
import java.util.function.Predicate;

/**
 * Which moment {@link Database#restore} restores. Immutable.
 *
 * @param kind how the moment is named
 * @param value the number: milliseconds since 1970, an LSN, or the id of a transaction; 0 for the
 *     latest moment
 * @param listener is told several times a second how far the restore is, by a thread of the engine.
 *     It returns whether the restore goes on; if not, the call throws {@link
 *     java.util.concurrent.CancellationException}. The default does nothing
 */
public record RestoreOptions(Kind kind, long value, Predicate<RestoreProgress> listener) {
  private static final RestoreOptions LATEST = new RestoreOptions(Kind.LATEST, 0, progress -> true);

  /** How a moment is named. */
  public enum Kind {
    /** The end of the archive. */
    LATEST,
    /** By a time. */
    TIME,
    /** By a position in the log. */
    LSN,
    /** By a transaction that is not to be there. */
    BEFORE_TRANSACTION
  }

  /** Checks the numbers. */
  public RestoreOptions {
    OptionCheck.present(kind, "kind", Kind.class);
    OptionCheck.inRange(value, "value", kind == Kind.TIME ? Long.MIN_VALUE : 0, Long.MAX_VALUE, "");
    OptionCheck.present(listener, "listener", "a listener");
  }

  /**
   * Restores all that the archive has.
   *
   * @return options
   */
  public static RestoreOptions latest() {
    return LATEST;
  }

  /**
   * Restores a time: nothing that was committed after it, and at most the commits of one interval
   * before it are missing.
   *
   * @param time the time, by the clock of the machine that had the database
   * @return options
   */
  public static RestoreOptions at(Instant time) {
    return new RestoreOptions(Kind.TIME, time.toEpochMilli(), LATEST.listener);
  }

  /**
   * Restores a position in the log: all commits up to it, and none behind it.
   *
   * @param lsn the position
   * @return options
   */
  public static RestoreOptions atLsn(long lsn) {
    return new RestoreOptions(Kind.LSN, lsn, LATEST.listener);
  }

  /**
   * Restores the moment before a transaction committed.
   *
   * @param transactionId its id, see {@link Transaction#id}
   * @return options
   */
  public static RestoreOptions beforeTransaction(long transactionId) {
    return new RestoreOptions(Kind.BEFORE_TRANSACTION, transactionId, LATEST.listener);
  }

  /**
   * The same with another listener.
   *
   * @param other is told how far the restore is, and returns whether it goes on
   * @return options
   */
  public RestoreOptions withListener(Predicate<RestoreProgress> other) {
    return new RestoreOptions(kind, value, other);
  }
}
