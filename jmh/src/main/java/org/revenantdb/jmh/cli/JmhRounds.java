package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs the methods of a JMH class in interleaved rounds: each round starts one JVM for each method
 * and point, so that a slow minute of the machine meets all variants alike.
 */
final class JmhRounds {
  private JmhRounds() {}

  /**
   * Runs the rounds.
   *
   * @param options which methods and parameters, and anything but forks
   * @param rounds how many
   * @return by {@code method} or {@code method,parameter=value}, what the rounds said
   */
  static Map<String, Sample> run(
      ChainedOptionsBuilder options, int rounds, int warmups, int iterations, TimeValue each)
      throws RunnerException {
    options
        .forks(1)
        .warmupIterations(warmups)
        .warmupTime(each)
        .measurementIterations(iterations)
        .measurementTime(each)
        .shouldFailOnError(true);
    Map<String, List<Double>> scores = new LinkedHashMap<>();
    String unit = "";
    for (int round = 1; round <= rounds; round++) {
      System.err.printf("round %d of %d%n", round, rounds);
      Runner runner =
          new Runner(
              options.build(),
              OutputFormatFactory.createFormatInstance(System.err, VerboseMode.SILENT));
      for (RunResult result : runner.run()) {
        String point = pointOf(result.getParams());
        double score = result.getPrimaryResult().getScore();
        System.err.printf("  %-40s %10.2f %s%n", point, score, unitOf(result));
        scores.computeIfAbsent(point, _ -> new ArrayList<>()).add(score);
        unit = unitOf(result); // all methods of a class have the same
      }
    }
    Map<String, Sample> samples = new LinkedHashMap<>();
    for (Map.Entry<String, List<Double>> entry : scores.entrySet()) {
      samples.put(entry.getKey(), Sample.of(entry.getValue(), unit));
    }
    return samples;
  }

  private static String unitOf(RunResult result) {
    return result.getPrimaryResult().getScoreUnit();
  }

  private static String pointOf(BenchmarkParams params) {
    String name = params.getBenchmark();
    StringJoiner point = new StringJoiner(",");
    point.add(name.substring(name.lastIndexOf('.') + 1));
    for (String key : params.getParamsKeys()) {
      point.add(key + "=" + params.getParam(key));
    }
    return point.toString();
  }
}
