package org.revenantdb.engine.version;

/**
 * The latest commit on which the answers to a transaction depend: as long as that is not durable, a
 * crash can make them wrong (R10).
 *
 * <p>One thread at a time.
 */
public final class Witness {
  private long lsn;

  /** Of a transaction that was told nothing yet. */
  public Witness() {}

  /**
   * An answer depends on a version with this outcome, as the table of transactions tells it.
   *
   * @param commit its commit LSN; what is committed for all is durable, and changes nothing
   */
  public void saw(long commit) {
    if (commit > lsn) {
      lsn = commit;
    }
  }

  /** The log has to be durable up to here before the answers may be acted on. */
  public long lsn() {
    return lsn;
  }
}
