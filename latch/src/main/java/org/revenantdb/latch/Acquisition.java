package org.revenantdb.latch;

/** What became of an acquisition on {@link WaitTerms}. */
public enum Acquisition {
  /** The latch is held now; or, if a request was to be run under it, it has been run. */
  ACQUIRED,
  /** The time was over. */
  TIMED_OUT,
  /** The thread was interrupted, and still has its interrupt status. */
  INTERRUPTED,
  /** The waiter was told that the latch is not wanted any more. */
  GIVEN_UP
}
