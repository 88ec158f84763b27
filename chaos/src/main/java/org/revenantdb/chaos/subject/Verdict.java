package org.revenantdb.chaos.subject;

/** The result of a run, from best to worst. */
public enum Verdict {
  /** Everything promised was there, nothing else was, and the store accepted new work. */
  SURVIVED,
  /** The crash could not be made or observed here. This is no statement about the store. */
  NOT_MEASURED,
  /** Something that was promised is missing, in whole or in part. */
  LOST,
  /** Something is there that must not be, or the store cannot be opened, read or used. */
  CORRUPT,
  /** The subject or the framework itself failed. This is no statement about the store. */
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
