package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.UpdatesFork;

/** Cheap updates by strategy, uneven and beside scans (Figures 40 and 41); points only. */
final class GcUpdates {
  private static final String SESSIONS = "2";
  private static final List<String> SKEWS = List.of("0", "0.5", "1.0", "1.25");
  private static final List<String> READ_PERCENTS = List.of("0", "1", "10", "50", "100");

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
    Plot skew = plot("How many updates a second, by skew?", "Zipf's exponent");
    for (String exponent : SKEWS) {
      List<ForkSession.Child> children = new ArrayList<>();
      for (GcStrategies each : GcStrategies.values()) {
        ForkSession.Child child =
            child(session, each, "skew=" + exponent, "100000", exponent, "0", frequencies);
        children.add(child);
        skew.mark(each.variant(), exponent, "key_updates," + child.name());
      }
      session.run("updates, skew " + exponent, 1, children, GcBench.UNITS);
    }
    session.figures().plot(skew);
    Plot scans = plot("How many scans a second, by their share?", "scans in a hundred");
    Plot updates = plot("How many updates a second beside scans?", "scans in a hundred");
    for (String percent : READ_PERCENTS) {
      List<ForkSession.Child> children = new ArrayList<>();
      for (GcStrategies each : GcStrategies.values()) {
        ForkSession.Child child =
            child(session, each, "reads=" + percent, "10000", "0", percent, frequencies);
        children.add(child);
        scans.mark(each.variant(), percent, "table_scans," + child.name());
        updates.mark(each.variant(), percent, "key_updates," + child.name());
      }
      session.run("updates, scans " + percent + " %", 1, children, GcBench.UNITS);
    }
    session.figures().plot(scans);
    session.figures().plot(updates);
  }

  private static Plot plot(String question, String x) {
    return new Plot(question, Plot.Form.LINES, x, "1/s", /* logarithmic= */ false);
  }

  private static ForkSession.Child child(
      ForkSession session,
      GcStrategies strategy,
      String what,
      String rows,
      String skew,
      String readPercent,
      Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    return strategy.child(
        session,
        what,
        UpdatesFork.class,
        "1g",
        frequencies.getOrDefault(strategy, 0L),
        List.of("DIRECTORY", rows, skew, SESSIONS, readPercent, "500", "3000", session.seed()));
  }
}
