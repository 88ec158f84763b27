package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.SkewFork;

/**
 * The gain of pauses after conflicts if many transactions need a few rows: figure 29 of the thesis,
 * its three ways of handling conflicts in turn, and its highest skew with more sessions, more rows
 * in a transaction, and durable commits.
 */
final class GcSkew {
  /** The figure: aborts for each commit, tried again at once, divided by those with pauses. */
  static final String ABORTS = "abort_reduction";

  /** The figure: commits a second with pauses, divided by those tried again at once. */
  static final String SPEEDUP = "backoff_speedup";

  private static final String RETRY = "retry";
  private static final String BACKOFF = "backoff";
  private static final String ASSIGNED = "assigned";

  private static final String RATE = "transactions";
  private static final String FAILED = "aborts";

  private static final String HIGHEST = "1.25";
  private static final List<String> SKEWS = List.of("0", "0.25", "0.5", "0.75", "1", HIGHEST);

  /** As many as in the thesis. */
  private static final String SESSIONS = "10";

  private static final String MANY_SESSIONS = "64";

  /** Compared with this few, a run without any is as good. */
  private static final double FEWEST_ABORTS = 1e-4;

  /** After less the compilers still had a part of the two processors. */
  private static final int WARM = 5_000;

  /** One round's speedup was 0.8, another's 2.2. */
  private static final int ROUNDS = 9;

  private static final Map<String, String> UNITS =
      Map.of(
          RATE,
          "1/s",
          FAILED,
          "",
          "cpu_us",
          "us",
          "p50_us",
          "us",
          "p99_us",
          "us",
          "ceiling_us",
          "us",
          "pauses",
          "");

  private GcSkew() {}

  /** One row of the three ways to handle conflicts. */
  private record Setting(String skew, String sessions, String rows, String durability) {
    String name(String handling) {
      return handling
          + ",skew="
          + skew
          + ",sessions="
          + sessions
          + ",rows="
          + rows
          + ","
          + durability;
    }

    ForkSession.Child child(ForkSession session, String handling) {
      return new ForkSession.Child(
          name(handling),
          SkewFork.class,
          "DIRECTORY",
          sessions,
          skew,
          handling,
          rows,
          durability,
          session.sized(1_000, WARM),
          session.sized(1_500, 5_000),
          session.seed());
    }
  }

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    figures.setting(
        "skew",
        "100,000 rows of 100 bytes, read and written back one higher, rows by Zipf's law; the two"
            + " figures: skew "
            + HIGHEST
            + ", "
            + SESSIONS
            + " sessions, one row a transaction, lazy");
    Setting thesis = new Setting(HIGHEST, SESSIONS, "1", "lazy");
    Map<String, Sample> samples =
        session.run(
            "skew, back-off",
            session.quick() ? 3 : ROUNDS,
            List.of(thesis.child(session, RETRY), thesis.child(session, BACKOFF)),
            UNITS);
    double aborts = median(samples, FAILED, thesis, RETRY);
    figures.put(ABORTS, aborts / Math.max(FEWEST_ABORTS, median(samples, FAILED, thesis, BACKOFF)));
    figures.put(
        SPEEDUP, median(samples, RATE, thesis, BACKOFF) / median(samples, RATE, thesis, RETRY));
    if (session.isWhole()) {
      sweep(session);
      beside(session);
    }
  }

  private static double median(
      Map<String, Sample> samples, String metric, Setting setting, String handling)
      throws CannotMeasureException {
    return ForkSession.median(samples, metric + "," + setting.name(handling));
  }

  /** Figure 29. */
  private static void sweep(ForkSession session) throws CannotMeasureException {
    Plot rates =
        new Plot(
            "How many transactions a second, by skew?",
            Plot.Form.LINES,
            "skew of Zipf's law",
            "1/s",
            /* logarithmic= */ true);
    Plot aborts =
        new Plot(
            "How many attempts fail for each that commits, by skew?",
            Plot.Form.LINES,
            "skew of Zipf's law",
            "aborts for each commit",
            /* logarithmic= */ false);
    Map<String, ForkSession.Child> children = new LinkedHashMap<>();
    for (String skew : SKEWS) {
      Setting setting = new Setting(skew, SESSIONS, "1", "lazy");
      for (String handling : List.of(RETRY, BACKOFF, ASSIGNED)) {
        String name = setting.name(handling);
        if (!skew.equals(HIGHEST) || handling.equals(ASSIGNED)) { // the others are there
          children.put(name, setting.child(session, handling));
        }
        rates.mark(handling, skew, RATE + "," + name);
        aborts.mark(handling, skew, FAILED + "," + name);
      }
    }
    session.run("skew, sweep", GcBench.ROUNDS_OF_SWEEP, new ArrayList<>(children.values()), UNITS);
    session.figures().plot(rates);
    session.figures().plot(aborts);
  }

  /** What else there is than the figures' one row, ten sessions, and lazy commits. */
  private static void beside(ForkSession session) throws CannotMeasureException {
    Plot plot =
        new Plot(
            "How many transactions a second at the highest skew?",
            Plot.Form.BARS,
            "sessions, rows of a transaction",
            "1/s",
            /* logarithmic= */ true);
    List<ForkSession.Child> children = new ArrayList<>();
    for (Setting setting :
        List.of(
            new Setting(HIGHEST, MANY_SESSIONS, "1", "lazy"),
            new Setting(HIGHEST, SESSIONS, "4", "lazy"),
            new Setting(HIGHEST, MANY_SESSIONS, "4", "lazy"),
            new Setting(HIGHEST, SESSIONS, "1", "durable"),
            new Setting(HIGHEST, MANY_SESSIONS, "1", "durable"))) {
      for (String handling : List.of(RETRY, BACKOFF)) {
        children.add(setting.child(session, handling));
        plot.mark(
            handling,
            setting.sessions() + ", " + setting.rows() + ", " + setting.durability(),
            RATE + "," + setting.name(handling));
      }
    }
    session.run("skew, beside", GcBench.ROUNDS_OF_SWEEP, children, UNITS);
    session.figures().plot(plot);
  }
}
