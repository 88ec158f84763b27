package org.revenantdb.jmh.cli;

/** One measurement that {@code ./revenant bench} knows by name. */
interface Bench {

  /**
   * Its settings.
   *
   * @param quick shrink sizes, points and repetitions, keep every figure
   * @param seed what random choices start from
   */
  record Settings(boolean quick, long seed) {}

  /** Returns the name on the command line: lower case, words joined by hyphens. */
  String name();

  /** Returns the question that it answers, a sentence. */
  String question();

  /**
   * Measures and fills in the figures; progress goes to standard error.
   *
   * @throws CannotMeasureException where a figure could not be measured; those filled in stay
   */
  void measure(Settings settings, Figures figures) throws CannotMeasureException;
}
