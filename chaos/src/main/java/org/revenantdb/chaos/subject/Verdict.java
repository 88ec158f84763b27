package org.revenantdb.chaos.subject;

/** What a run may honestly say, worst last. */
public enum Verdict {
  /** Everything promised was there, nothing else, and the store went on working. */
  SURVIVED,
  /** The crash could not be made or seen here; says nothing about the store. */
  NOT_MEASURED,
  /** Something promised is not there, or only in part. */
  LOST,
  /** Something is there that must not be, or the store cannot be opened, read or used. */
  CORRUPT,
  /** The subject or the framework itself is at fault; says nothing about the store. */
  HARNESS_BROKEN;

  /**
   * The worse of two.
   *
   * @param other another verdict
   * @return the one that is declared later
   */
  public Verdict worse(Verdict other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
