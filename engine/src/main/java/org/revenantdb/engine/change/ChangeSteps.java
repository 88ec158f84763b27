package org.revenantdb.engine.change;

/**
 * Where a test may stop a thread, or let something be thrown: between a published record and the
 * last change that it stands for (R18), and where a transaction ends.
 */
@FunctionalInterface
public interface ChangeSteps {
  /** The places. */
  enum Step {
    /** The record is published; nothing has changed yet. */
    PUBLISHED,
    /** The bytes of a page have changed; its LSN has not. */
    APPLIED,
    /** A page has its new LSN. */
    LSN_SET,
    /** A transaction is about to enter the map of the aborted ones. */
    ABORTING,
  }

  /** Blocks no thread. */
  ChangeSteps NONE = step -> {};

  /** Called by the thread that has come to a place. */
  void at(Step step);
}
