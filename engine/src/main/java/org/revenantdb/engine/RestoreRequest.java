package org.revenantdb.engine;

import java.time.Instant;
import java.util.function.Predicate;

/**
 * The moment that {@link Database#restore} restores, and the listener. Immutable.
 *
 * @param kind how the moment is given
 * @param value the number: milliseconds since 1970, an LSN, or the id of a transaction; 0 for the
 *     latest moment
 * @param listener receives the progress several times a second, on a thread of the engine. It
 *     returns whether the restore continues. If it returns false, the call throws {@link
 *     java.util.concurrent.CancellationException}. The default does nothing
 */
public record RestoreRequest(Kind kind, long value, Predicate<RestoreProgress> listener) {
  private static final RestoreRequest LATEST = new RestoreRequest(Kind.LATEST, 0, progress -> true);

  /** How a moment is given. */
  public enum Kind {
    /** The end of the archive. */
    LATEST,
    /** By a time. */
    TIME,
    /** By a position in the log. */
    LSN,
    /** By a transaction whose commit, and all later ones, are left out. */
    BEFORE_TRANSACTION
  }

  /** Checks the numbers. */
  public RestoreRequest {
    OptionCheck.present(kind, "kind", Kind.class);
    OptionCheck.inRange(value, "value", kind == Kind.TIME ? Long.MIN_VALUE : 0, Long.MAX_VALUE, "");
    OptionCheck.present(listener, "listener", "a listener");
  }

  /**
   * Restores everything that the archive has.
   *
   * @return options
   */
  public static RestoreRequest latest() {
    return LATEST;
  }

  /**
   * Restores the commits up to a time. At most the commits of the last interval before it are
   * missing.
   *
   * @param time the time, by the clock of the machine on which the database was open
   * @return options
   */
  public static RestoreRequest at(Instant time) {
    return new RestoreRequest(Kind.TIME, time.toEpochMilli(), LATEST.listener);
  }

  /**
   * Restores all commits up to a position in the log, and none after it.
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
   * @param other receives the progress, and returns whether the restore continues
   * @return options
   */
  public RestoreRequest withListener(Predicate<RestoreProgress> other) {
    return new RestoreRequest(kind, value, other);
  }
}
