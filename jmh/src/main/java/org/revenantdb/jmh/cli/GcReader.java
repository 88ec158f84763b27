package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.ChFork;

/** Order entry beside those who analyse: the CH-benCHmark, by strategy. */
final class GcReader {
  /** The figure: transactions a second beside one long reader, ours divided by the watermark's. */
  static final String FIGURE = "eager_vs_watermark";

  private static final String WRITES = "transactions";
  private static final String READS = "rows_read";
  private static final String HELD = "one long reader";
  private static final String EACH = "a snapshot a query";

  private static final int PARTS = 30;

  /** Ours came to half of its rate in the first three seconds after two, to all of it after six. */
  private static final int WARM = 10_000;

  private GcReader() {}

  /** One session that writes, and one that holds a snapshot and reads it again and again. */
  static void measure(ForkSession session) throws CannotMeasureException {
    session
        .figures()
        .setting(
            "CH-benCHmark",
            "1 warehouse, items, customers and orders times "
                + scale(session)
                + ", one session that writes, without think times, lazy; who reads asks five queries"
                + " that scan orders, lines, stock and customers, over one snapshot that it holds, or"
                + " each over its own; heap of 1 GiB, default options");
    int parts = session.quick() ? 5 : PARTS;
    List<ForkSession.Child> children = new ArrayList<>();
    for (GcStrategies each : List.of(GcStrategies.EAGER, GcStrategies.WATERMARK)) {
      children.add(
          child(
              session,
              each,
              HELD,
              1,
              "held",
              session.quick() ? 4_000 : 60_000,
              parts,
              GcStrategies.published()));
    }
    Map<String, Sample> samples = session.run("CH, " + HELD, children, GcBench.UNITS);
    plots(session.figures(), HELD, List.of(GcStrategies.EAGER, GcStrategies.WATERMARK), parts);
    double eager = median(samples, WRITES, HELD, GcStrategies.EAGER);
    session.figures().put(FIGURE, eager / median(samples, WRITES, HELD, GcStrategies.WATERMARK));
  }

  private static double median(
      Map<String, Sample> samples, String metric, String what, GcStrategies strategy)
      throws CannotMeasureException {
    return ForkSession.median(samples, metric + ',' + what + ',' + strategy.variant());
  }

  /** Figures 36 and 38: each strategy over time, and with more who read; points only. */
  static void sweep(ForkSession session, Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    List<ForkSession.Child> overTime = new ArrayList<>();
    for (GcStrategies each : GcStrategies.values()) {
      overTime.add(child(session, each, EACH, 1, "each", 30_000, PARTS, frequencies));
    }
    session.run("CH, " + EACH, 1, overTime, GcBench.UNITS);
    plots(session.figures(), EACH, List.of(GcStrategies.values()), PARTS);
    Plot writes = plot("How many transactions a second beside readers?", "readers", "1/s");
    Plot reads = plot("How many rows a second do readers read?", "readers", "1/s");
    for (int readers : List.of(1, 2, 4)) {
      List<ForkSession.Child> children = new ArrayList<>();
      for (GcStrategies each : GcStrategies.values()) {
        ForkSession.Child child =
            child(session, each, "readers=" + readers, readers, "each", 8_000, 1, frequencies);
        children.add(child);
        String place = Integer.toString(readers);
        writes.mark(each.variant(), place, WRITES + ',' + child.name());
        reads.mark(each.variant(), place, READS + ',' + child.name());
      }
      session.run("CH, " + readers + " readers", 1, children, GcBench.UNITS);
    }
    session.figures().plot(writes);
    session.figures().plot(reads);
  }

  private static void plots(
      Figures figures, String what, List<GcStrategies> strategies, int parts) {
    Plot writes = plot("Transactions a second over time, " + what, "part of the time", "1/s");
    Plot reads = plot("Rows read a second over time, " + what, "part of the time", "1/s");
    Plot memory = plot("Memory of older versions over time, " + what, "part of the time", "bytes");
    Plot chains = plot("Longest chain so far, " + what, "part of the time", "versions");
    for (GcStrategies each : strategies) {
      for (int part = 1; part <= parts; part++) {
        String place = Integer.toString(part);
        String point = ",part=" + part + ',' + what + ',' + each.variant();
        writes.mark(each.variant(), place, WRITES + point);
        reads.mark(each.variant(), place, READS + point);
        memory.mark(each.variant(), place, "version_memory_bytes" + point);
        chains.mark(each.variant(), place, "longest_chain" + point);
      }
    }
    List.of(writes, reads, memory, chains).forEach(figures::plot);
  }

  private static Plot plot(String question, String x, String y) {
    return new Plot(question, Plot.Form.LINES, x, y, /* logarithmic= */ false);
  }

  private static String scale(ForkSession session) {
    return session.quick() ? "0.05" : "0.5";
  }

  private static ForkSession.Child child(
      ForkSession session,
      GcStrategies strategy,
      String what,
      int readers,
      String snapshots,
      int millis,
      int parts,
      Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    return strategy.child(
        session,
        what,
        ChFork.class,
        "1g",
        frequencies.getOrDefault(strategy, 0L),
        List.of(
            "DIRECTORY",
            "1",
            scale(session),
            "1",
            Integer.toString(readers),
            snapshots,
            session.sized(1_000, WARM),
            Integer.toString(millis),
            Integer.toString(parts),
            session.seed()));
  }
}
