package org.revenantdb.latch;

/** The result of an acquisition on {@link WaitTerms}. */
public enum Acquisition {
  /**
   * The latch is held now. If the caller asked for a request to be run under it, the request has
   * been run.
   */
  ACQUIRED,
  /** The time limit has passed. */
  TIMED_OUT,
  /** The thread was interrupted, and still has its interrupt status. */
  INTERRUPTED,
  /** The callback of {@link WaitTerms#asLongAs} reported that the latch is no longer wanted. */
  GIVEN_UP
}
