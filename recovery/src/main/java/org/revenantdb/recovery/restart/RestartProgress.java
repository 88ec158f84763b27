package org.revenantdb.recovery.restart;

/** Told now and then how much of the log an analysis has read; by the thread that restarts. */
@FunctionalInterface
public interface RestartProgress {
  /** Tells nobody. */
  RestartProgress NONE = bytes -> {};

  /**
   * Some more has been read.
   *
   * @param bytes of log so far; how many there are is not known before the end
   */
  void analysed(long bytes);
}
