package org.revenantdb.recovery.log;

/** Where a test may let something be thrown while a record is published (R18). */
@FunctionalInterface
interface LogSteps {
  /** The places. */
  enum Step {
    /** The record has its place, and is not published. */
    RESERVED,
    /** A PAD is about to be made in place of a record. */
    BEFORE_PAD,
    /** A published record is about to wake the writer. */
    BEFORE_WAKE,
  }

  /** Throws nothing. */
  LogSteps NONE = step -> {};

  /** Called by the thread that has come to a place. */
  void at(Step step);
}
