package org.revenantdb.engine.version;

/**
 * The latest commit on which the results of a transaction's reads depend: until it is durable, a
 * crash can make them wrong (R10).
 *
 * <p>One thread at a time.
 */
public final class Witness {
  private long lsn;

  /** Makes an object for a transaction that has read nothing yet. */
  public Witness() {}

  /**
   * Records that a result depends on a version with this outcome, as returned by the table of
   * transactions.
   *
   * @param commit its commit LSN; a version that is committed for all is durable, and changes
   *     nothing
   */
  public void saw(long commit) {
    if (commit > lsn) {
      lsn = commit;
    }
  }

  /** The log must be durable up to here before the results may be acted on. */
  public long lsn() {
    return lsn;
  }
}
