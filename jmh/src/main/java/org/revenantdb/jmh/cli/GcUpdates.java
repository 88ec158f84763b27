package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.UpdatesFork;

/** Cheap updates by strategy, skewed and with scans (Figures 40 and 41); points only. */
final class GcUpdates {
  private static final String SESSIONS = "2";
  private static final List<String> SKEWS = List.of("0", "0.5", "1.0", "1.25");
  private static final List<String> READ_PERCENTS = List.of("0", "1", "10", "50", "100");

  /** Each value; a strategy has one JVM a round for all of them. */
  private static final int MILLIS = 1_500;

  private GcUpdates() {}

  static void measure(ForkSession session, Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    session
        .figures()
        .setting(
            "cheap updates",
            "keys of 8 bytes, values of 100, "
                + SESSIONS
                + " sessions, lazy; 100,000 rows by Zipf's law, or 10,000 all alike, beside scans of"
                + " the table");
    List<ForkSession.Child> children = new ArrayList<>();
    Plot skew = plot("How many updates a second, by skew?", "Zipf's exponent");
    for (GcStrategies each : GcStrategies.values()) {
      children.add(child(session, each, "100000", "skew=" + String.join(",", SKEWS), frequencies));
      for (String exponent : SKEWS) {
        skew.mark(each.variant(), exponent, "key_updates,skew=" + exponent + ',' + each.variant());
      }
    }
    session.run("updates, by skew", GcBench.ROUNDS_OF_SWEEP, children, GcBench.UNITS);
    session.figures().plot(skew);
    children.clear();
    Plot scans = plot("How many scans a second, by their share?", "scans in a hundred");
    Plot updates = plot("How many updates a second beside scans?", "scans in a hundred");
    for (GcStrategies each : GcStrategies.values()) {
      String varies = "reads=" + String.join(",", READ_PERCENTS);
      children.add(child(session, each, "10000", varies, frequencies));
      for (String percent : READ_PERCENTS) {
        String point = ",reads=" + percent + ',' + each.variant();
        scans.mark(each.variant(), percent, "table_scans" + point);
        updates.mark(each.variant(), percent, "key_updates" + point);
      }
    }
    session.run("updates, beside scans", GcBench.ROUNDS_OF_SWEEP, children, GcBench.UNITS);
    session.figures().plot(scans);
    session.figures().plot(updates);
  }

  private static Plot plot(String question, String x) {
    return new Plot(question, Plot.Form.LINES, x, "1/s", /* logarithmic= */ false);
  }

  private static ForkSession.Child child(
      ForkSession session,
      GcStrategies strategy,
      String rows,
      String varies,
      Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    return strategy.child(
        session,
        "",
        UpdatesFork.class,
        "1g",
        frequencies.getOrDefault(strategy, 0L),
        List.of(
            "DIRECTORY",
            rows,
            "0",
            SESSIONS,
            "0",
            "500",
            Integer.toString(MILLIS),
            session.seed(),
            varies,
            "ROUND"));
  }
}
