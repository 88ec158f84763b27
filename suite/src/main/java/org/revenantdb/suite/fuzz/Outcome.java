package org.revenantdb.suite.fuzz;

import java.util.Locale;

/** The outcome of a variant, worst last. */
enum Outcome {
  /** All answers were right. */
  RIGHT(false),
  /**
   * All answers were those of an earlier moment: the damage looks like the end of a log that a
   * crash cut off.
   */
  EARLIER(false),
  /** The open was refused. */
  REFUSED(false),
  /** It was opened, and some calls were refused; all answers were right. */
  TOLD(false),
  /** Wrong answers that a checksum could not have detected. */
  FORGED(false),
  /** A wrong answer that a checksum could have detected. */
  WRONG(true),
  /** An open that was refused has changed a file. */
  REFUSALS_THAT_CHANGED_FILES(true),
  /** An exception that is not the project's own. */
  RAW_EXCEPTIONS(true),
  /** A thread of the engine exists after the close. */
  LEAKS(true),
  /** Files grew far more than those of sound databases. */
  GROWTH(true),
  /** No memory left. */
  OUT_OF_MEMORY(true),
  /** A thread of the engine died, or is missing while puts succeed. */
  DEAD_THREADS(true),
  /** It hung. */
  HANGS(true),
  /** The JVM ended. */
  JVM_DEATHS(true);

  private final boolean fault;

  Outcome(boolean fault) {
    this.fault = fault;
  }

  /** Whether it is a fault. */
  boolean isFault() {
    return fault;
  }

  /** Its text in reports. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
