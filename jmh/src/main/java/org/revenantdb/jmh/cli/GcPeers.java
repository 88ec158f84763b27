package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.HotRowsFork;
import org.revenantdb.jmh.gc.SnapshotBounds;

/** Updates of hot rows with one open snapshot, in our engine and in others. */
final class GcPeers {
  /** The figure: updates a second, ours divided by those of the best other engine. */
  static final String FIGURE = "long_reader_vs_best";

  private static final String RATE = "snapshot_updates";

  private GcPeers() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String updates = "2000000";
    String millis = session.sized(2_000, 300_000);
    figures.setting(
        "beside others",
        "1,000 rows, keys of 8 bytes, values of 100, "
            + updates
            + " updates of rows chosen at random, or as many as there are in "
            + millis
            + " ms, one session, a transaction each; one snapshot is open meanwhile, and is read in"
            + " the end. Nothing is forced at a commit; a thread forces"
            + " what was committed ten times a second, in ours the engine does, so a power cut takes a"
            + " tenth of a second, where the engine has no more to say");
    figures.setting(GcFlatness.BOUNDED, SnapshotBounds.said());
    List<ForkSession.Child> children = new ArrayList<>();
    for (SnapshotEngines engine : SnapshotEngines.values()) {
      engine.describe(figures);
      children.add(
          new ForkSession.Child(
              engine.variant(),
              HotRowsFork.class,
              engine.flags(),
              null,
              List.of(
                  "DIRECTORY",
                  engine.className(),
                  session.sized(2_500, 5_000),
                  updates,
                  millis,
                  session.seed())));
    }
    Map<String, Sample> samples = session.run("hot rows, all", children, GcBench.UNITS);
    plot(figures, "How many updates a second beside one snapshot?", "1/s", RATE);
    plot(figures, "What does that take of memory?", "bytes", "memory_growth_bytes");
    plot(figures, "What does that take on disk?", "bytes", "disk_growth_bytes");
    GcFlatness.judge(figures, samples, SnapshotEngines.OURS.variant());
    figures.put(FIGURE, versusBest(samples));
  }

  private static void plot(Figures figures, String question, String unit, String metric) {
    Plot plot = new Plot(question, Plot.Form.BARS, "engine", unit, /* logarithmic= */ false);
    for (SnapshotEngines engine : SnapshotEngines.values()) {
      plot.mark("one snapshot", engine.variant(), metric + ',' + engine.variant());
    }
    figures.plot(plot);
  }

  /** Each engine must have been measured. */
  static double versusBest(Map<String, Sample> samples) throws CannotMeasureException {
    double best = 0;
    for (SnapshotEngines engine : SnapshotEngines.values()) {
      double rate = ForkSession.median(samples, RATE + ',' + engine.variant());
      if (engine != SnapshotEngines.OURS) {
        best = Math.max(best, rate);
      }
    }
    return ForkSession.median(samples, RATE + ',' + SnapshotEngines.OURS.variant()) / best;
  }
}
