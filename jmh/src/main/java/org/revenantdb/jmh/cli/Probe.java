package org.revenantdb.jmh.cli;

/** Notices whether something else disturbed what was measured. */
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
