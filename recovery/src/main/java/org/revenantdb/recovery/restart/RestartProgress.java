package org.revenantdb.recovery.restart;

/** Told about now and then while a restart works; by the thread that restarts. */
@FunctionalInterface
public interface RestartProgress {
  /** What a restart is doing. */
  enum Phase {
    /** Reads the log to find out what happened. */
    ANALYSIS,
    /** Reads the log again and repairs pages. */
    REDO
  }

  /** Tells nobody. */
  RestartProgress NONE = (phase, done, total) -> {};

  /**
   * Some more has been done.
   *
   * @param phase what is being done
   * @param done bytes of log so far
   * @param total bytes of log in this phase, 0 while that is unknown
   */
  void progress(Phase phase, long done, long total);
}
