package org.revenantdb.recovery.log;

import java.util.concurrent.TimeUnit;

/**
 * When the file of the ring is tried again after it could not be made: after a second, then each
 * time after twice the time before, up to a minute. An attempt takes the last room of a full disk
 * for a moment.
 *
 * <p>Threads: the log writer reports refusals; any thread asks.
 */
final class RingRetry {
  /** The pause after the first refusal, in nanoseconds. */
  static final long FIRST = TimeUnit.SECONDS.toNanos(1);

  /** The longest pause. */
  static final long LONGEST = TimeUnit.MINUTES.toNanos(1);

  private volatile long at;
  private long pause = FIRST;

  /** The file could not be made. */
  void refused(long now) {
    at = now + pause;
    pause = Math.min(2 * pause, LONGEST);
  }

  /** Whether the file is to be tried again. */
  boolean isDue(long now) {
    return now - at >= 0;
  }
}
