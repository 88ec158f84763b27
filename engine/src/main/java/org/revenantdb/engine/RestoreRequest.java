package org.revenantdb.engine;

import java.time.Instant;
import java.util.function.Predicate;

/**
 * Which moment {@link Database#restore} restores, and what is told meanwhile. Immutable.
 *
 * @param kind how the moment is named
 * @param value the number: milliseconds since 1970, an LSN, or the id of a transaction; 0 for the
 *     latest moment
 * @param listener is told several times a second how far the restore is, by a thread of the engine.
 *     It returns whether the restore goes on; if not, the call throws {@link
 *     java.util.concurrent.CancellationException}. The default does nothing
 */
public record RestoreRequest(Kind kind, long value, Predicate<RestoreProgress> listener) {
  private static final RestoreRequest LATEST = new RestoreRequest(Kind.LATEST, 0, progress -> true);

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
  public RestoreRequest {
    OptionCheck.present(kind, "kind", Kind.class);
    OptionCheck.inRange(value, "value", kind == Kind.TIME ? Long.MIN_VALUE : 0, Long.MAX_VALUE, "");
    OptionCheck.present(listener, "listener", "a listener");
  }

  /**
   * Restores all that the archive has.
   *
   * @return options
   */
  public static RestoreRequest latest() {
    return LATEST;
  }

  /**
   * Restores a time: nothing that was committed after it, and at most the commits of one interval
   * before it are missing.
   *
   * @param time the time, by the clock of the machine that had the database
   * @return options
   */
  public static RestoreRequest at(Instant time) {
    return new RestoreRequest(Kind.TIME, time.toEpochMilli(), LATEST.listener);
  }

  /**
   * Restores a position in the log: all commits up to it, and none behind it.
   *
   * @param lsn the position
   * @return options
   */
  public static RestoreRequest atLsn(long lsn) {
    return new RestoreRequest(Kind.LSN, lsn, LATEST.listener);
  }

  /**
   * Restores the moment before a transaction committed.
   *
   * @param transactionId its id, see {@link Transaction#id}
   * @return options
   */
  public static RestoreRequest beforeTransaction(long transactionId) {
    return new RestoreRequest(Kind.BEFORE_TRANSACTION, transactionId, LATEST.listener);
  }

  /**
   * The same with another listener.
   *
   * @param other is told how far the restore is, and returns whether it goes on
   * @return options
   */
  public RestoreRequest withListener(Predicate<RestoreProgress> other) {
    return new RestoreRequest(kind, value, other);
  }
}
