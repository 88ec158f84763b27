package org.revenantdb.chaos.subject;

/** The kinds of crash. A run has exactly one kind. */
public enum Crash {
  /**
   * A forked JVM is killed. All bytes that it wrote survive, forced or not. This crash finds broken
   * recovery, but never a missing force.
   */
  PROCESS_DEATH,
  /** Bytes that were not forced are lost, torn or reordered, as the platform profile allows. */
  POWER_CUT
}
