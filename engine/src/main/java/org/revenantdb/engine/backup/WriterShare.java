package org.revenantdb.engine.backup;

import java.util.concurrent.TimeUnit;

/**
 * Says how long a backup pauses after a piece, so that concurrent writers keep most of their speed.
 *
 * <p>Threads: that of the backup.
 */
final class WriterShare {
  /*
   * Measured    w  commits in a time of copying, r  commits in a time of pauses; both of about the last second
   *
   * Law         A backup that copies in the share d of the time leaves writers r (1 - d (1 - w / r)).
   *             They keep KEPT of r if d = (1 - KEPT) / (1 - w / r). At most it is MOST, so that r stays known.
   *
   * So          d is at least 1 - KEPT: a backup always goes on, even if writers stand still while it copies.
   *             If copying costs them no more than 1 - KEPT, it hardly pauses. If nobody commits, it does not pause.
   *             While r is not known, a pause is as long as the piece before it.
   *
   * Gone        Writers are gone when no commit came in pauses of GONE together. It is a time, not a number of commits
   *             that were missed: sessions that share forces commit in groups, with nothing between two groups. Times of
   *             copying do not count: writers may stand still in them.
   */

  /** What writers keep of their speed. */
  static final double KEPT = 0.9;

  /** The most that a backup copies of the time while there are writers. */
  static final double MOST = 15.0 / 16;

  private static final double UNKNOWN = 1.0 / 2;
  private static final double GONE = TimeUnit.MILLISECONDS.toNanos(200);
  private static final double MEMORY = TimeUnit.SECONDS.toNanos(1);

  private double copying;
  private double commitsBeside;
  private double pausing;
  private double commitsAlone;
  private double quiet;
  private long piece;

  /** Whether commits were seen lately. */
  boolean hasWriters() {
    return commitsBeside + commitsAlone > 0;
  }

  /** Notes a part of a piece: how long it took, and how many commits there were meanwhile. */
  void copied(long nanos, long commits) {
    piece += nanos;
    if (commits > 0 || hasWriters()) {
      fade(nanos);
      copying += nanos;
      commitsBeside += commits;
    }
  }

  /** Ends a piece: how long a pause is due after it, in nanoseconds. */
  long pause() {
    double share = share();
    long pause = (long) (piece * (1 - share) / share);
    piece = 0;
    return pause;
  }

  /** The part of the time in which to copy. */
  private double share() {
    if (!hasWriters()) {
      return 1;
    }
    if (pausing == 0 || copying == 0) {
      return UNKNOWN;
    }
    double beside = commitsBeside / copying;
    double alone = commitsAlone / pausing;
    double lost = alone > 0 ? 1 - beside / alone : 0;
    return lost <= (1 - KEPT) / MOST ? MOST : (1 - KEPT) / lost;
  }

  /** Notes a pause: how long it was, and how many commits there were meanwhile. */
  void paused(long nanos, long commits) {
    quiet = commits > 0 ? 0 : quiet + nanos;
    if (!hasWriters() && commits == 0) {
      return;
    }
    if (quiet >= GONE) {
      copying = 0;
      commitsBeside = 0;
      pausing = 0;
      commitsAlone = 0;
      return;
    }
    fade(nanos);
    pausing += nanos;
    commitsAlone += commits;
  }

  private void fade(long nanos) {
    double left = Math.exp(-nanos / MEMORY);
    copying *= left;
    commitsBeside *= left;
    pausing *= left;
    commitsAlone *= left;
  }
}
