package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** One measurement that {@code ./revenant bench} knows by name. */
interface Bench {

  /**
   * Its settings.
   *
   * @param quick shrink sizes, points and repetitions, keep every figure
   * @param seed what random choices start from
   * @param only the requested figures; without any all, with the details beside them
   */
  record Settings(boolean quick, long seed, Set<String> only) {
    /** Whether one of these figures is requested. */
    boolean wants(String... figures) {
      return only.isEmpty() || Stream.of(figures).anyMatch(only::contains);
    }

    /** Whether points that no figure is made of are to be measured as well. */
    boolean isWhole() {
      return !quick && only.isEmpty();
    }
  }

  /** Returns the name on the command line: lower case, words joined by hyphens. */
  String name();

  /** Returns the question that it answers, a sentence. */
  String question();

  /**
   * Returns the names of all its figures. A figure that is missing in the end, for whatever reason,
   * was not measured, and the command reports it.
   */
  List<String> promises();

  /** Returns whether it can measure some of its figures and leave out the others. */
  default boolean measuresSome() {
    return false;
  }

  /**
   * Measures and fills in the figures; progress goes to standard error.
   *
   * @throws CannotMeasureException if no further measurement is possible; the figures so far stay
   */
  void measure(Settings settings, Figures figures) throws CannotMeasureException;
}
