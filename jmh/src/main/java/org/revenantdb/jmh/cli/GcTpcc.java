package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.revenantdb.jmh.gc.ChFork;

/**
 * TPC-C by strategy, without anybody who reads for long, and how often each strategy should look.
 */
final class GcTpcc {
  /** The figure: transactions a second, ours divided by those of the best other strategy. */
  static final String FIGURE = "tpcc_vs_best";

  private static final String RATE = "transactions";
  private static final String SESSIONS = "2";
  private static final String WAREHOUSES = "4";

  /** Rounds differ by a tenth, and the best of five others is above their mean by that alone. */
  private static final int ROUNDS = 7;

  private static final List<String> MORE_SESSIONS = List.of("1", "4", "8");

  private final ForkSession session;
  private final Map<GcStrategies, Long> frequencies = GcStrategies.published();

  GcTpcc(ForkSession session) {
    this.session = session;
  }

  /** How often each strategy looks. */
  Map<GcStrategies, Long> frequencies() {
    return frequencies;
  }

  /** Figure 39: finds the frequency that is best for each; in a quick run it is the thesis'. */
  void tune() throws CannotMeasureException {
    Figures figures = session.figures();
    if (session.quick()) {
      figures.setting("frequencies", "those of the thesis, Table 10: " + told());
      return;
    }
    List<ForkSession.Child> children = new ArrayList<>();
    Plot plot =
        new Plot(
            "How often should a strategy look? TPC-C, " + SESSIONS + " sessions",
            Plot.Form.LINES,
            "transactions, or milliseconds",
            "1/s",
            /* logarithmic= */ false);
    for (GcStrategies each : GcStrategies.others()) {
      for (long frequency : each.frequencies()) {
        ForkSession.Child child = child(each, "frequency=" + frequency, frequency, SESSIONS, 5_000);
        children.add(child);
        plot.mark(each.variant(), Long.toString(frequency), RATE + ',' + child.name());
      }
    }
    Map<String, Sample> samples = session.run("TPC-C, frequencies", 1, children, GcBench.UNITS);
    figures.plot(plot);
    for (GcStrategies each : GcStrategies.others()) {
      frequencies.put(each, best(samples, each));
    }
    figures.setting("frequencies", "the best of the sweep over TPC-C: " + told());
  }

  /** The frequency with the highest rate; as published if it has none. */
  private static long best(Map<String, Sample> samples, GcStrategies strategy)
      throws CannotMeasureException {
    long best = GcStrategies.published().getOrDefault(strategy, 0L);
    double highest = 0;
    for (long frequency : strategy.frequencies()) {
      double rate =
          ForkSession.median(samples, RATE + ",frequency=" + frequency + ',' + strategy.variant());
      if (rate > highest) {
        highest = rate;
        best = frequency;
      }
    }
    return best;
  }

  private String told() {
    Map<String, Long> told = new TreeMap<>();
    frequencies.forEach((strategy, frequency) -> {
      if (!strategy.frequencies().isEmpty()) {
        told.put(strategy.variant(), frequency);
      }
    });
    return told.toString();
  }

  /** Figure 37. */
  void measure() throws CannotMeasureException {
    Figures figures = session.figures();
    figures.setting(
        "TPC-C",
        WAREHOUSES
            + " warehouses, items, customers and orders times "
            + scale()
            + ", "
            + SESSIONS
            + " sessions without think times; lazy, so that processors are the limit");
    Map<String, Sample> samples =
        session.run(
            "TPC-C, strategies",
            session.quick() ? 1 : ROUNDS,
            children(SESSIONS, session.quick() ? 1_500 : 15_000),
            GcBench.UNITS);
    Plot plot =
        new Plot(
            "How many TPC-C transactions a second, by strategy?",
            Plot.Form.LINES,
            "sessions",
            "1/s",
            /* logarithmic= */ false);
    if (!session.quick()) {
      for (String sessions : MORE_SESSIONS) {
        session.run(
            "TPC-C, " + sessions + " sessions", 1, children(sessions, 5_000), GcBench.UNITS);
      }
    }
    for (GcStrategies each : GcStrategies.values()) {
      for (String sessions : List.of("1", SESSIONS, "4", "8")) {
        if (!session.quick() || sessions.equals(SESSIONS)) {
          plot.mark(each.variant(), sessions, RATE + ',' + name(sessions) + ',' + each.variant());
        }
      }
    }
    figures.plot(plot);
    figures.put(FIGURE, versusBest(samples));
  }

  private static String name(String sessions) {
    return "tpcc,sessions=" + sessions;
  }

  /** Each strategy must have been measured. */
  static double versusBest(Map<String, Sample> samples) throws CannotMeasureException {
    double best = 0;
    for (GcStrategies each : GcStrategies.others()) {
      best = Math.max(best, rate(samples, each));
    }
    return rate(samples, GcStrategies.EAGER) / best;
  }

  private static double rate(Map<String, Sample> samples, GcStrategies strategy)
      throws CannotMeasureException {
    return ForkSession.median(samples, RATE + ',' + name(SESSIONS) + ',' + strategy.variant());
  }

  private List<ForkSession.Child> children(String sessions, int millis)
      throws CannotMeasureException {
    List<ForkSession.Child> children = new ArrayList<>();
    for (GcStrategies each : GcStrategies.values()) {
      children.add(
          child(each, name(sessions), frequencies.getOrDefault(each, 0L), sessions, millis));
    }
    return children;
  }

  private String scale() {
    return session.quick() ? "0.01" : "0.1";
  }

  private ForkSession.Child child(
      GcStrategies strategy, String what, long frequency, String sessions, int millis)
      throws CannotMeasureException {
    return strategy.child(
        session,
        what,
        ChFork.class,
        "1g",
        frequency,
        List.of(
            "DIRECTORY",
            WAREHOUSES,
            scale(),
            sessions,
            "0",
            "held",
            session.sized(2_500, 2_000),
            Integer.toString(millis),
            "1",
            session.seed()));
  }
}
