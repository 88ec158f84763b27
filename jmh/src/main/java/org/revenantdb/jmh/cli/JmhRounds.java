package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.report.Progress;

/**
 * Runs the methods of a JMH class in interleaved rounds: each round starts one JVM for each method
 * and point.
 */
final class JmhRounds {
  static {
    // JMH's lock on a file in the folder for temporary files keeps two runs from disturbing each
    // other. Rounds detect any disturbance themselves. A lock file left by another user would only
    // prevent the measurement.
    System.setProperty("jmh.ignoreLock", "true");
  }

  /**
   * Suffix of the name of a point: the allocation of an operation, if JMH's profiler measures it.
   */
  static final String BYTES = "_bytes";

  private static final String ALLOCATED = "gc.alloc.rate.norm";

  private JmhRounds() {}

  /**
   * How long one JVM measures. Many short iterations are better than few long ones, because the JVM
   * reports their median, so an iteration that was interrupted does not count.
   *
   * @param warmups how many iterations before
   * @param warmup each of them
   * @param iterations how many count
   * @param iteration each of them
   */
  record Plan(int warmups, TimeValue warmup, int iterations, TimeValue iteration) {}

  /**
   * Runs the rounds.
   *
   * @param what the measurement, for the progress
   * @param options which methods and parameters, and anything but forks
   * @return by {@code method} or {@code method,parameter=value}, the results of the rounds
   */
  static Map<String, Sample> run(
      String what, Rounds rounds, ChainedOptionsBuilder options, Plan plan)
      throws CannotMeasureException {
    Path temporary = temporary(what);
    try {
      // A fork that is killed with this JVM cannot delete its files.
      options.jvmArgsAppend("-Djava.io.tmpdir=" + temporary);
      return measured(what, rounds, options, plan);
    } finally {
      delete(temporary);
    }
  }

  private static Path temporary(String what) throws CannotMeasureException {
    try {
      return Scratch.directory("bench-jmh-");
    } catch (IOException e) {
      throw new CannotMeasureException(what + ": no directory for temporary files", e);
    }
  }

  private static void delete(Path directory) {
    try {
      FileTrees.delete(directory);
    } catch (UncheckedIOException e) {
      System.err.println("left behind: " + directory + ": " + e.getMessage());
    }
  }

  private static Map<String, Sample> measured(
      String what, Rounds rounds, ChainedOptionsBuilder options, Plan plan)
      throws CannotMeasureException {
    options
        .forks(1)
        .warmupIterations(plan.warmups())
        .warmupTime(plan.warmup())
        .measurementIterations(plan.iterations())
        .measurementTime(plan.iteration())
        .shouldFailOnError(true);
    String[] unit = {""}; // all methods of a class have the same
    List<Map<String, Double>> results =
        rounds.run(
            what,
            () -> {
              Map<String, Double> scores = new LinkedHashMap<>();
              for (RunResult result : runOnce(what, options)) {
                String point = pointOf(result.getParams());
                double score = result.getPrimaryResult().getStatistics().getPercentile(50);
                unit[0] = result.getPrimaryResult().getScoreUnit();
                System.err.println(
                    Progress.fitted(
                        String.format(Locale.ROOT, "  %-40s %10.2f %s", point, score, unit[0])));
                scores.put(point, score);
                Result<?> allocated = result.getSecondaryResults().get(ALLOCATED);
                if (allocated != null) {
                  scores.put(point + BYTES, allocated.getScore());
                }
              }
              return scores;
            });
    Map<String, Sample> samples = new LinkedHashMap<>();
    Sample.byName(results)
        .forEach((point, scores) ->
            samples.put(point, Sample.of(scores, point.endsWith(BYTES) ? "B" : unit[0])));
    return samples;
  }

  private static Iterable<RunResult> runOnce(String what, ChainedOptionsBuilder options)
      throws CannotMeasureException {
    try {
      return new Runner(
              options.build(),
              OutputFormatFactory.createFormatInstance(System.err, VerboseMode.SILENT))
          .run();
    } catch (RunnerException e) {
      throw new CannotMeasureException(what + ": " + e.getMessage(), e);
    }
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
