package org.revenantdb.chaos.subject;

/** The kinds of crash, which are never confused. */
public enum Crash {
  /**
   * A forked JVM is killed. What it wrote is there, forced or not: finds broken recovery, never a
   * missing force.
   */
  PROCESS_DEATH,
  /** What was not forced is lost, torn or reordered, as the platform profile allows. */
  POWER_CUT
}
