package org.revenantdb.jmh.cli;

import java.util.List;

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
   * Returns the names of all its figures. One that is missing in the end, for whatever reason, was
   * not measured, and the command says so.
   */
  List<String> promises();

  /**
   * Measures and fills in the figures; progress goes to standard error.
   *
   * @throws CannotMeasureException where nothing more can be measured; what was filled in stays
   */
  void measure(Settings settings, Figures figures) throws CannotMeasureException;
}
