package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The results of several rounds for one point.
 *
 * @param median of the rounds
 * @param spread half the distance between the lowest and the highest round, relative to the median
 * @param n how many rounds
 * @param unit of the median
 * @param lowest of the rounds
 * @param highest of the rounds
 */
record Sample(double median, double spread, int n, String unit, double lowest, double highest) {

  static Sample of(List<Double> rounds, String unit) {
    double[] sorted = rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    if (sorted.length == 0) {
      throw new IllegalArgumentException("no round was measured");
    }
    double middle =
        Arrays.stream(sorted, (sorted.length - 1) / 2, sorted.length / 2 + 1)
            .average()
            .orElseThrow();
    double lowest = sorted[0];
    double highest = sorted[sorted.length - 1];
    double spread = middle == 0 ? 0 : (highest - lowest) / 2 / middle;
    return new Sample(middle, spread, sorted.length, unit, lowest, highest);
  }

  /** Turns rounds of points into points of rounds. */
  static Map<String, List<Double>> byName(List<Map<String, Double>> rounds) {
    Map<String, List<Double>> points = new LinkedHashMap<>();
    for (Map<String, Double> round : rounds) {
      round.forEach(
          (name, value) -> points.computeIfAbsent(name, _ -> new ArrayList<>()).add(value));
    }
    return points;
  }
}
