package org.revenantdb.chaos.oracle;

import org.revenantdb.chaos.subject.Verdict;

/**
 * One thing that is wrong.
 *
 * @param kind the kind of finding
 * @param detail the key, the transaction and the versions
 */
public record Finding(Kind kind, String detail) {

  /** The kinds of findings about a recovered state or about a read of a transaction. */
  public enum Kind {
    /** A change that was acknowledged is missing. */
    LOST(Verdict.LOST),
    /** A row is there although its removal was acknowledged. */
    RESURRECTED(Verdict.LOST),
    /** A version is there whose transaction never tried to commit. */
    UNCOMMITTED(Verdict.CORRUPT),
    /** A version or a key is there that was never written. */
    PHANTOM(Verdict.CORRUPT),
    /** A transaction is there in part. */
    TORN(Verdict.LOST),
    /** A lazy transaction is missing, and one that came after its answer is there. */
    NOT_A_PREFIX(Verdict.LOST),
    /** A condition of the subject's own is not met. */
    DEMAND(Verdict.CORRUPT),
    /**
     * Two committed transactions replaced the same version, or one replaced a version that never
     * existed.
     */
    LOST_UPDATE(Verdict.LOST),
    /** A transaction read a version that did not survive, or that never committed. */
    DIRTY_READ(Verdict.CORRUPT),
    /** A transaction did not see a change that was acknowledged before it began. */
    STALE_READ(Verdict.LOST),
    /**
     * A transaction saw one part of another transaction, but not the other part or a later version.
     */
    FRACTURED_READ(Verdict.CORRUPT),
    /** A transaction did not see its own change, or saw two different snapshots. */
    OWN_READ(Verdict.CORRUPT);

    private final Verdict verdict;

    Kind(Verdict verdict) {
      this.verdict = verdict;
    }

    /**
     * Returns the verdict on a run with such a finding.
     *
     * @return {@link Verdict#LOST} or {@link Verdict#CORRUPT}
     */
    public Verdict verdict() {
      return verdict;
    }
  }

  @Override
  public String toString() {
    return kind + ": " + detail;
  }
}
