package org.revenantdb.chaos.oracle;

import org.revenantdb.chaos.subject.Verdict;

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
    LOST(Verdict.LOST),
    /** A row is back whose removal was acknowledged. */
    RESURRECTED(Verdict.LOST),
    /** A version is there that its transaction never tried to commit. */
    UNCOMMITTED(Verdict.CORRUPT),
    /** A version or a key is there that nobody ever wrote. */
    PHANTOM(Verdict.CORRUPT),
    /** A transaction is there in part. */
    TORN(Verdict.LOST),
    /** A lazy transaction is not there, and one that came after its answer is. */
    NOT_A_PREFIX(Verdict.LOST),
    /** A demand of the subject's own is not met. */
    DEMAND(Verdict.CORRUPT),
    /** Two committed transactions replaced the same version, or one replaced what never was. */
    LOST_UPDATE(Verdict.LOST),
    /** A transaction was shown a version that did not survive, or that never committed. */
    DIRTY_READ(Verdict.CORRUPT),
    /** A transaction was not shown a change that was acknowledged before it began. */
    STALE_READ(Verdict.LOST),
    /**
     * A transaction was shown one part of another transaction and not the other part, or what came
     * after it.
     */
    FRACTURED_READ(Verdict.CORRUPT),
    /** A transaction did not see its own change, or saw two different snapshots. */
    OWN_READ(Verdict.CORRUPT);

    private final Verdict verdict;

    Kind(Verdict verdict) {
      this.verdict = verdict;
    }

    /**
     * What a run with such a finding may say.
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
