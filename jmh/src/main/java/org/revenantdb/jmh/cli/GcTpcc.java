package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.revenantdb.jmh.gc.ChFork;

/** TPC-C by strategy, without a long reader, and how often each strategy should look. */
final class GcTpcc {
  /** The figure: transactions a second, ours divided by those of the best other strategy. */
  static final String FIGURE = "tpcc_vs_best";

  private static final String RATE = "transactions";
  private static final String SESSIONS = "2";
  private static final String WAREHOUSES = "4";

  /** In which the best of the others is found. */
  private static final int ROUNDS = 3;

  /** In a sweep a strategy has one JVM a round, warmed up for so long before its first value. */
  private static final int WARM_OF_SWEEP = 1_000;

  /** Each value of a sweep: its rounds together are hardly longer than one that stood alone. */
  private static final int MILLIS_OF_SWEEP = 2_000;

  /**
   * Compares our strategy with that one. Rounds differ by a tenth, and the best of five is better
   * than its true value by that alone. So the setting with the best result shows nothing about
   * ours.
   */
  private static final int ROUNDS_OF_PAIR = 11;

  private static final String PAIR = "tpcc,pair,sessions=" + SESSIONS;

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
      List<String> frequencies = each.frequencies().stream().map(String::valueOf).toList();
      if (!frequencies.isEmpty()) {
        children.add(sweep(each, "", 0, "frequency=" + String.join(",", frequencies)));
      }
      for (String frequency : frequencies) {
        plot.mark(
            each.variant(), frequency, RATE + ",frequency=" + frequency + ',' + each.variant());
      }
    }
    Map<String, Sample> samples =
        session.run("TPC-C, frequencies", GcBench.ROUNDS_OF_SWEEP, children, GcBench.UNITS);
    figures.plot(plot);
    for (GcStrategies each : GcStrategies.others()) {
      frequencies.put(each, best(samples, each));
    }
    figures.setting(
        "frequencies",
        "those with the highest median of "
            + GcBench.ROUNDS_OF_SWEEP
            + " rounds over TPC-C, all of which are points: "
            + told());
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
            children(name(SESSIONS), SESSIONS, millis()),
            GcBench.UNITS);
    GcStrategies best = best(samples);
    figures.setting(
        "TPC-C, best other", best.variant() + "; " + FIGURE + " is of rounds after it was found");
    Map<String, Sample> pair =
        session.run(
            "TPC-C, ours and the best other",
            session.quick() ? 1 : ROUNDS_OF_PAIR,
            List.of(
                child(GcStrategies.EAGER, PAIR, 0, SESSIONS, millis()),
                child(best, PAIR, frequencies.getOrDefault(best, 0L), SESSIONS, millis())),
            GcBench.UNITS);
    figures.put(FIGURE, versus(best, pair));
    Plot plot =
        new Plot(
            "How many TPC-C transactions a second, by strategy?",
            Plot.Form.LINES,
            "sessions",
            "1/s",
            /* logarithmic= */ false);
    if (session.isWhole()) {
      List<ForkSession.Child> children = new ArrayList<>();
      for (GcStrategies each : GcStrategies.values()) {
        long frequency = frequencies.getOrDefault(each, 0L);
        children.add(sweep(each, "tpcc", frequency, "sessions=" + String.join(",", MORE_SESSIONS)));
      }
      session.run("TPC-C, sessions", GcBench.ROUNDS_OF_SWEEP, children, GcBench.UNITS);
    }
    for (GcStrategies each : GcStrategies.values()) {
      for (String sessions : List.of("1", SESSIONS, "4", "8")) {
        if (session.isWhole() || sessions.equals(SESSIONS)) {
          String what =
              sessions.equals(SESSIONS) ? name(sessions) : "sessions=" + sessions + ",tpcc";
          plot.mark(each.variant(), sessions, RATE + ',' + what + ',' + each.variant());
        }
      }
    }
    figures.plot(plot);
  }

  private int millis() {
    return session.quick() ? 1_500 : 15_000;
  }

  private static String name(String sessions) {
    return "tpcc,sessions=" + sessions;
  }

  /** The other with the highest rate; each must have been measured. */
  static GcStrategies best(Map<String, Sample> samples) throws CannotMeasureException {
    GcStrategies best = GcStrategies.WATERMARK;
    for (GcStrategies each : GcStrategies.others()) {
      if (rate(samples, name(SESSIONS), each) > rate(samples, name(SESSIONS), best)) {
        best = each;
      }
    }
    return best;
  }

  /** Ours divided by another, in the rounds of these two. */
  static double versus(GcStrategies other, Map<String, Sample> pair) throws CannotMeasureException {
    return rate(pair, PAIR, GcStrategies.EAGER) / rate(pair, PAIR, other);
  }

  private static double rate(Map<String, Sample> samples, String name, GcStrategies strategy)
      throws CannotMeasureException {
    return ForkSession.median(samples, RATE + ',' + name + ',' + strategy.variant());
  }

  private List<ForkSession.Child> children(String name, String sessions, int millis)
      throws CannotMeasureException {
    List<ForkSession.Child> children = new ArrayList<>();
    for (GcStrategies each : GcStrategies.values()) {
      children.add(child(each, name, frequencies.getOrDefault(each, 0L), sessions, millis));
    }
    return children;
  }

  private String scale() {
    return session.quick() ? "0.01" : "0.1";
  }

  /** One JVM for all values of what varies. */
  private ForkSession.Child sweep(GcStrategies strategy, String what, long frequency, String varies)
      throws CannotMeasureException {
    return child(
        strategy,
        what,
        frequency,
        SESSIONS,
        Integer.toString(WARM_OF_SWEEP),
        Integer.toString(MILLIS_OF_SWEEP),
        varies);
  }

  private ForkSession.Child child(
      GcStrategies strategy, String what, long frequency, String sessions, int millis)
      throws CannotMeasureException {
    String warm = session.sized(2_500, 2_000);
    return child(strategy, what, frequency, sessions, warm, Integer.toString(millis), "");
  }

  private ForkSession.Child child(
      GcStrategies strategy,
      String what,
      long frequency,
      String sessions,
      String warm,
      String millis,
      String varies)
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
            warm,
            millis,
            "1",
            session.seed(),
            varies,
            "ROUND"));
  }
}
