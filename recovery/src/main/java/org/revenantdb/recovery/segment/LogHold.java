package org.revenantdb.recovery.segment;

/**
 * Keeps segments for a copy of the log, which reads them while the log is written.
 *
 * <p>A hold never stops writers: it is broken when the directory would otherwise become larger than
 * allowed. Then the copy cannot be finished.
 *
 * <p>Threads: the copy's, and those that prepare segments.
 */
public final class LogHold implements AutoCloseable {
  private final SegmentSupply supply;

  /** Nothing from here on is released. Under the supply's lock. */
  private long from;

  private volatile boolean broken;

  LogHold(SegmentSupply supply) {
    this.supply = supply;
  }

  /** Under the supply's lock. */
  long from() {
    return from;
  }

  /** Under the supply's lock. */
  void move(long newFrom) {
    from = newFrom;
  }

  /** Under the supply's lock. */
  void broken() {
    broken = true;
  }

  /**
   * Gives up what lies below a position.
   *
   * @param lsn everything below was read; never lower than before
   * @return whether segments can be deleted now
   */
  public boolean moveTo(long lsn) {
    return supply.holdMoves(this, lsn);
  }

  /**
   * Whether segments may have been released that the copy needs.
   *
   * @return true for ever, once it is so
   */
  public boolean isBroken() {
    return broken;
  }

  /** Keeps nothing any more. */
  @Override
  public void close() {
    supply.holdMoves(this, Long.MAX_VALUE);
  }
}
