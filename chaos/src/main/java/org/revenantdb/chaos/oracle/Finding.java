package org.revenantdb.chaos.oracle;

/**
 * One thing that must not be.
 *
 * @param kind what sort of thing
 * @param detail which key, which transaction, which versions
 */
public record Finding(Kind kind, String detail) {

  /** What can be wrong with what came back after a crash, or with what a transaction was shown. */
  public enum Kind {
    /** A change that was acknowledged is not there. */
    LOST,
    /** A row is back whose removal was acknowledged. */
    RESURRECTED,
    /** A version is there that its transaction never tried to commit. */
    UNCOMMITTED,
    /** A version or a key is there that nobody ever wrote. */
    PHANTOM,
    /** A transaction that was in flight is there in part. */
    TORN,
    /** Two committed transactions replaced the same version, or one replaced what never was. */
    LOST_UPDATE,
    /** A transaction was shown a version that did not survive, or that never committed. */
    DIRTY_READ,
    /** A transaction was not shown a change that was acknowledged before it began. */
    STALE_READ,
    /**
     * A transaction was shown one part of another transaction and not the other part, or what came
     * after it.
     */
    FRACTURED_READ,
    /** A transaction did not see its own change, or saw two different snapshots. */
    OWN_READ
  }

  @Override
  public String toString() {
    return kind + ": " + detail;
  }
}
