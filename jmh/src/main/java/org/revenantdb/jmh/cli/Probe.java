package org.revenantdb.jmh.cli;

/** Detects whether something else disturbed the measurement. */
@FunctionalInterface
interface Probe {

  /** Begins to watch. */
  Watch start();

  /** One stretch of time under watch. */
  @FunctionalInterface
  interface Watch {
    /** Ends it: returns what disturbed, in a few words, or nothing if nothing did. */
    String stop();
  }
}
