package org.revenantdb.engine.backup;

/** Tests do something between two steps of a backup. */
@FunctionalInterface
interface BackupSteps {
  /** The steps, in their order. */
  enum Step {
    /** The mark is durable. */
    MARKED,
    /** The log is held, and there was no checkpoint yet. */
    HELD,
    /** The redo point is known. */
    CHECKPOINTED,
    /** A piece of pages was read, and not judged. */
    PAGES_READ,
    /** A piece of pages was copied. */
    PAGES_COPIED,
    /** All pages were copied. */
    ALL_PAGES_COPIED,
    /** The end of the copy is known, and durable in the log. */
    END_KNOWN,
    /** The log was copied, and its files are forced. */
    LOG_COPIED,
    /**
     * The backup is noted, and its last step comes. A directory of a database is forced; a stream
     * lacks its last entry.
     */
    FORCED
  }

  BackupSteps NONE = step -> {};

  /** Called by the thread of the backup. */
  void at(Step step);
}
