package org.revenantdb.recovery.segment;

/**
 * Keeps segments for a copy of the log, which reads them while the log is written.
 *
 * <p>A hold never stops writers. A breakable hold is broken if the directory would otherwise become
 * larger than allowed; then the copy cannot be finished. With an unbreakable hold the directory
 * becomes larger.
 *
 * <p>Threads: the copy's, and those that prepare segments.
 */
public final class LogHold implements AutoCloseable {
  private final SegmentSupply supply;
  private final boolean mayBreak;

  /** Nothing from here on is released. Under the supply's lock. */
  private long from;

  private volatile boolean broken;

  LogHold(SegmentSupply supply, boolean mayBreak) {
    this.supply = supply;
    this.mayBreak = mayBreak;
  }

  /** Under the supply's lock. */
  long from() {
    return from;
  }

  /** Under the supply's lock. */
  void move(long newFrom) {
    from = newFrom;
  }

  /** Breaks it, if that is allowed; returns whether it is broken. Under the supply's lock. */
  boolean givesWay() {
    if (mayBreak) {
      broken = true;
    }
    return mayBreak;
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

  /**
   * Keeps nothing any more in this life. A later life may read on from here: what it needs is not
   * deleted, unless the directory would be too large, but it may be recycled.
   */
  public void leave() {
    supply.holdLeaves(this);
  }

  /** Keeps nothing any more. */
  @Override
  public void close() {
    supply.holdMoves(this, Long.MAX_VALUE);
  }
}
