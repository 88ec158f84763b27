package org.revenantdb.recovery.restart;

/**
 * Receives from time to time how much of the log the analysis has read, on the thread that opens
 * the database.
 */
@FunctionalInterface
public interface RestartProgress {
  /** Ignores the progress. */
  RestartProgress NONE = bytes -> {};

  /**
   * More log was read.
   *
   * @param bytes bytes of log so far; their total number is not known before the end
   */
  void analysed(long bytes);
}
