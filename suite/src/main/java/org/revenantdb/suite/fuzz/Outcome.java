package org.revenantdb.suite.fuzz;

import java.util.Locale;

/** What came of a variant, worst last. */
enum Outcome {
  /** All answers were right. */
  RIGHT(false),
  /**
   * All answers were those of an earlier moment: the damage looks like the end of a log that a
   * crash cut.
   */
  EARLIER(false),
  /** The open was refused. */
  REFUSED(false),
  /** It was opened, and some calls were refused; all answers were right. */
  TOLD(false),
  /** Wrong answers, or none that no checksum could have told. */
  FORGED(false),
  /** A wrong answer that a checksum could have told. */
  WRONG(true),
  /** An open that was refused has changed a file. */
  REFUSALS_THAT_CHANGED_FILES(true),
  /** An exception that is not the project's own. */
  RAW_EXCEPTIONS(true),
  /** A thread of the engine is there after the close. */
  LEAKS(true),
  /** Files grew as if without bound. */
  GROWTH(true),
  /** No memory left. */
  OUT_OF_MEMORY(true),
  /** A thread of the engine died, or is gone while puts succeed. */
  DEAD_THREADS(true),
  /** It did not end. */
  HANGS(true),
  /** The JVM ended. */
  JVM_DEATHS(true);

  private final boolean fault;

  Outcome(boolean fault) {
    this.fault = fault;
  }

  /** Whether it must never be. */
  boolean isFault() {
    return fault;
  }

  /** As it is written in reports. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
