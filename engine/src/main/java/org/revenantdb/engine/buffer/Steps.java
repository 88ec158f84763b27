package org.revenantdb.engine.buffer;

/** Places where a test may stop a thread of the pool, to run a schedule step by step. */
@FunctionalInterface
interface Steps {
  /** The places. */
  enum Step {
    /** The checkpoint has read the first LSN of a frame, but not yet what is being written. */
    SCANNED_FIRST_LSN,
    /** The page writer has set what is being written and not yet cleared the first LSN. */
    FLUSHING_SET,
    /** The page writer needs memory for its thread or a large batch; a test may throw the error. */
    ABOUT_TO_ALLOCATE,
    /** The page writer has copied a page, marked it as being written, and released its latch. */
    PAGE_COPIED,
    /** The page writer has copied the pages of a batch and holds no latch. */
    BATCH_COPIED,
    /** The log is durable up to every page of the batch; nothing is written yet. */
    LOG_DURABLE,
    /** The batch is in the double-write file, forced. */
    DOUBLE_WRITTEN,
    /** The next write is one of a page of the batch to its place in the data file. */
    WRITING_IN_PLACE,
    /** The batch is in the data file, forced; the frames are still marked as being written. */
    PAGES_FORCED,
    /** A thread has found the page in a frame and not yet requested its latch. */
    ABOUT_TO_LATCH,
    /** A page that was read ahead has arrived, or has failed to; it was not used yet. */
    READ_AHEAD,
    /** A page was read, perhaps beside the cache of the system; a test may change the bytes. */
    READ_BESIDE,
  }

  /** Stops no thread. */
  Steps NONE = (step, frame) -> {};

  /**
   * Called by a thread that has reached a place.
   *
   * @param frame the frame concerned, or -1
   */
  void at(Step step, int frame);
}
