package org.revenantdb.recovery.log;

/**
 * The places where a test can cause an exception during the publication of a record (R18), or hold
 * a thread.
 */
@FunctionalInterface
interface LogSteps {
  /** The places. */
  enum Step {
    /** The record has its place, but is not published. */
    RESERVED,
    /** The record is whole in the ring, but not published. */
    COPIED,
    /** A PAD is about to be made in place of a record. */
    BEFORE_PAD,
    /** A published record is about to wake the writer. */
    BEFORE_WAKE,
    /** The writer is about to replace the ring: reservations are paused. */
    PAUSED,
  }

  /** Throws nothing. */
  LogSteps NONE = step -> {};

  /** Called by a thread that reaches a place. */
  void at(Step step);
}
