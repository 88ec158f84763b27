package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.revenantdb.chaos.report.Progress;
import org.revenantdb.jmh.contend.Contender;
import org.revenantdb.jmh.contend.ContentionFork;
import org.revenantdb.jmh.contend.ContentionPoint;

/**
 * Runs contenders against each other in interleaved rounds: each round starts one JVM for each
 * variant, which goes through all points. The next round begins with the next variant, so that no
 * one is always the first.
 *
 * <p>Results are named {@code metric,variant=name,threads=..,kind=..,section=..}; {@link
 * org.revenantdb.jmh.contend.ContentionResult#metrics} has the metrics.
 */
final class ContendedRounds {
  /*
   * All forks have the same flags: a heap of fixed size and the collector without threads of its
   * own. So only the competitors run while it counts. This JVM waits in a system call meanwhile.
   */
  private static final List<String> FLAGS = List.of("-Xms512m", "-Xmx512m", "-XX:+UseSerialGC");
  private static final long START_MILLIS = 20_000;

  private final Rounds rounds;
  private final double stepsPerMicrosecond;

  /**
   * Makes them.
   *
   * @param stepsPerMicrosecond calibrated once, for all
   */
  ContendedRounds(Rounds rounds, double stepsPerMicrosecond) {
    this.rounds = rounds;
    this.stepsPerMicrosecond = stepsPerMicrosecond;
  }

  /**
   * One of those that are compared.
   *
   * @param name in the results
   * @param flags of its JVM, besides those that all have
   */
  record Variant(String name, Class<? extends Contender> contender, List<String> flags) {
    Variant(String name, Class<? extends Contender> contender) {
      this(name, contender, List.of());
    }
  }

  /**
   * What all variants run through.
   *
   * @param settleMillis before each point counts
   * @param windowMillis for which it counts
   * @param count how many rounds
   */
  record Plan(List<ContentionPoint> points, long settleMillis, long windowMillis, int count) {}

  /** Runs the rounds; what could not be measured is noted in the figures and absent here. */
  Map<String, Sample> run(String what, List<Variant> variants, Plan plan, Figures figures)
      throws CannotMeasureException {
    List<Variant> order = new ArrayList<>(variants);
    List<Map<String, Double>> results =
        rounds.run(
            what,
            plan.count(),
            () -> {
              Map<String, Double> round = new LinkedHashMap<>();
              for (Variant variant : order) {
                round.putAll(fork(what, variant, plan, figures));
              }
              Collections.rotate(order, -1);
              return round;
            });
    Map<String, Sample> samples = new LinkedHashMap<>();
    Sample.byName(results)
        .forEach((name, values) -> {
          Sample sample = Sample.of(values, unitOf(name));
          samples.put(name, sample);
          figures.point(name, sample);
        });
    return samples;
  }

  /** The name of a point in the results. */
  static String name(String metric, String variant, ContentionPoint point) {
    return metric + ",variant=" + variant + "," + point;
  }

  private Map<String, Double> fork(String what, Variant variant, Plan plan, Figures figures)
      throws CannotMeasureException {
    List<String> flags = new ArrayList<>(FLAGS);
    flags.addAll(variant.flags());
    List<String> arguments = new ArrayList<>();
    arguments.add(variant.contender().getName());
    arguments.add(Double.toString(stepsPerMicrosecond));
    arguments.add(Long.toString(plan.settleMillis()));
    arguments.add(Long.toString(plan.windowMillis()));
    plan.points().forEach(point -> arguments.add(point.toString()));
    long expected = (plan.settleMillis() + plan.windowMillis()) * plan.points().size();
    Fork fork =
        new Fork(ContentionFork.class, flags, Duration.ofMillis(START_MILLIS + 2 * expected));
    Fork.Said said;
    try {
      said = fork.run(arguments.toArray(String[]::new));
    } catch (IOException e) {
      throw new CannotMeasureException(what + ": no JVM could be started", e);
    }
    if (said.failed()) {
      figures.notMeasured(what + ", " + variant.name() + ": " + said.failure());
    }
    Map<String, Double> named = new LinkedHashMap<>();
    for (ContentionPoint point : plan.points()) {
      said.values()
          .forEach((key, value) -> {
            if (key.endsWith("," + point)) {
              String metric = key.substring(0, key.indexOf(','));
              named.put(name(metric, variant.name(), point), value);
            }
          });
      Double throughput = named.get(name("throughput", variant.name(), point));
      Double jain = named.get(name("jain", variant.name(), point));
      System.err.println(
          Progress.fitted(
              String.format(
                  Locale.ROOT,
                  "  %-24s %-44s %14.0f /s  Jain %.3f",
                  variant.name(),
                  point,
                  throughput == null ? Double.NaN : throughput,
                  jain == null ? Double.NaN : jain)));
    }
    return named;
  }

  private static String unitOf(String name) {
    String metric = name.substring(0, name.indexOf(','));
    return switch (metric) {
      case "throughput" -> "1/s";
      case "jain" -> "";
      case "cpu_per_second" -> "s/s";
      default -> "ns";
    };
  }
}
