package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.FlatnessFork;
import org.revenantdb.jmh.gc.SnapshotBounds;

/** Whether updates get slower, or take more room, while one snapshot is open. */
final class GcFlatness {
  /** The figure: updates a second in the last tenth of the time divided by those in the first. */
  static final String FIGURE = "flatness";

  /** Also in the detail: whether our engine kept its bounds in memory and on disk. */
  static final String BOUNDED = "bounded";

  private static final String VARIANT = "one snapshot";

  /** The same for longer, and the snapshot is read all the while; points only. */
  private static final String MINUTES = "one snapshot for minutes";

  private static final String MILLIS_OF_MINUTES = "180000";

  private GcFlatness() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String millis = session.sized(20_000, 60_000);
    figures.setting(
        FIGURE,
        "updates of another store first, for the compiler; 1,000 rows, keys of 8 bytes, values"
            + " of 100, chosen at random, one session, lazy, one"
            + " snapshot open for "
            + millis
            + " ms; default options");
    figures.setting(BOUNDED, SnapshotBounds.said());
    Map<String, Sample> samples =
        session.run(
            "updates beside one snapshot",
            session.quick() ? 1 : 3,
            List.of(child(session, VARIANT, millis, "held")),
            GcBench.UNITS);
    judge(figures, samples, VARIANT);
    figures.put(FIGURE, ForkSession.median(samples, FIGURE + ',' + VARIANT));
    List<String> variants = new ArrayList<>(List.of(VARIANT));
    if (session.isWhole()) {
      figures.setting(
          MINUTES, MILLIS_OF_MINUTES + " ms; after each tenth all rows are read in the snapshot");
      variants.add(MINUTES);
      judge(
          figures,
          session.run(
              MINUTES,
              1,
              List.of(child(session, MINUTES, MILLIS_OF_MINUTES, "read")),
              GcBench.UNITS),
          MINUTES);
    }
    plot(
        figures,
        variants,
        "How many updates a second beside one snapshot, over time?",
        "1/s",
        "updates",
        "");
    plot(
        figures,
        variants,
        "What do older versions take beside one snapshot, over time?",
        "bytes",
        "version_memory_bytes",
        "version_bound_bytes");
    plot(
        figures,
        variants,
        "What is on disk beside one snapshot, over time?",
        "bytes",
        "disk_bytes",
        "disk_bound_bytes");
  }

  private static ForkSession.Child child(
      ForkSession session, String name, String millis, String reads) {
    return new ForkSession.Child(
        name,
        FlatnessFork.class,
        List.of("-Xms512m", "-Xmx512m"),
        null,
        List.of("DIRECTORY", session.sized(4_000, 10_000), millis, session.seed(), reads));
  }

  /** Whether the bounds were kept in each round of a variant, if there was one. */
  static void judge(Figures figures, Map<String, Sample> samples, String variant) {
    Sample kept = samples.get(BOUNDED + ',' + variant);
    if (kept != null) {
      figures.judge(BOUNDED, kept.lowest() == 1);
    }
  }

  /** Each tenth of the time of each variant, and the bound, if there is one. */
  private static void plot(
      Figures figures,
      List<String> variants,
      String question,
      String unit,
      String metric,
      String bound) {
    Plot plot =
        new Plot(question, Plot.Form.LINES, "tenth of the time", unit, /* logarithmic= */ false);
    for (int part = 1; part <= FlatnessFork.PARTS; part++) {
      String place = Integer.toString(part);
      for (String variant : variants) {
        plot.mark(variant, place, metric + ",part=" + part + ',' + variant);
      }
      if (!bound.isEmpty()) {
        plot.mark("bound", place, bound + ',' + VARIANT);
      }
    }
    figures.plot(plot);
  }
}
