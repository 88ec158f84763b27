package org.revenantdb.jmh.cli;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.ChFork;

/** Order entry together with analysis: the CH-benCHmark, by strategy. */
final class GcReader {
  /** The figure: transactions a second with one long reader, ours divided by the watermark's. */
  static final String FIGURE = "eager_vs_watermark";

  private static final String WRITES = "transactions";
  private static final String READS = "rows_read";
  private static final String HELD = "one long reader";
  private static final String EACH = "a snapshot a query";

  /** The time of the figure: by then the watermark keeps the versions of many seconds. */
  private static final int MILLIS_OF_PAIR = 60_000;

  /** The other strategies: as many parts of the same length as fit in this. */
  private static final int MILLIS_OF_OTHERS = 30_000;

  private static final int PART_OF_HELD = 2_000;

  /** Queries are much shorter, so this is long for snapshots that go with them. */
  private static final int MILLIS_OF_EACH = 12_000;

  private static final int PART_OF_EACH = 1_000;

  /** Ours came to half of its rate in the first three seconds after two, to all of it after six. */
  private static final int WARM = 10_000;

  private static final List<String> READERS = List.of("1", "2", "4");

  /** Each number of readers, in the JVM that a strategy has for all of them. */
  private static final int MILLIS_OF_READERS = 2_500;

  private static final String CHAIN = "longest_chain";

  /** The available rows of Table 11: the name of a row, and its name in points. */
  private static final List<Map.Entry<String, String>> PRUNING =
      List.of(
          Map.entry("transactions a second", WRITES),
          Map.entry("rows read a second", READS),
          Map.entry("CPU for a transaction, us", "cpu_us_per_tx"),
          Map.entry("longest chain, older versions", CHAIN),
          Map.entry("versions added", "versions_added"),
          Map.entry("dropped when another one came", "versions_pruned"),
          Map.entry("dropped later", "versions_swept"),
          Map.entry("written to files", "versions_spilled"),
          Map.entry("memory of versions in the end, bytes", "version_memory_bytes"),
          Map.entry("files of versions in the end, bytes", "version_file_bytes"));

  private GcReader() {}

  /**
   * One session that writes, and one that holds a snapshot and reads it again and again. The figure
   * is of two strategies; if all is measured, the others run in the same rounds (Figure 36).
   */
  static void measure(ForkSession session, Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    session
        .figures()
        .setting(
            "CH-benCHmark",
            "1 warehouse, items, customers and orders times "
                + scale(session)
                + ", one session that writes, without think times, lazy; the readers run five queries"
                + " that scan orders, lines, stock and customers, over one snapshot that they hold, or"
                + " each over its own; heap of 1 GiB, default options");
    List<ForkSession.Child> children = new ArrayList<>();
    Series held = new Series(HELD);
    for (GcStrategies each : GcStrategies.values()) {
      boolean isOfPair = each == GcStrategies.EAGER || each == GcStrategies.WATERMARK;
      if (isOfPair || session.isWhole()) {
        Time time =
            session.quick()
                ? new Time(4_000, 800)
                : new Time(isOfPair ? MILLIS_OF_PAIR : MILLIS_OF_OTHERS, PART_OF_HELD);
        children.add(overTime(session, each, HELD, "held", time, frequencies));
        held.mark(each, time);
      }
    }
    Map<String, Sample> samples = session.run("CH, " + HELD, children, GcBench.UNITS);
    held.plots().forEach(session.figures()::plot);
    double eager = median(samples, WRITES, HELD, GcStrategies.EAGER);
    session.figures().put(FIGURE, eager / median(samples, WRITES, HELD, GcStrategies.WATERMARK));
  }

  private static double median(
      Map<String, Sample> samples, String metric, String what, GcStrategies strategy)
      throws CannotMeasureException {
    return ForkSession.median(samples, metric + ',' + what + ',' + strategy.variant());
  }

  /**
   * Figures 36 and 38, Table 11: over time, with more readers, and the effect of pruning; points.
   */
  static void sweep(ForkSession session, Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    List<ForkSession.Child> children = new ArrayList<>();
    Time time = new Time(MILLIS_OF_EACH, PART_OF_EACH);
    Series overTime = new Series(EACH);
    for (GcStrategies each : GcStrategies.values()) {
      children.add(overTime(session, each, EACH, "each", time, frequencies));
      overTime.mark(each, time);
    }
    session.run("CH, " + EACH, GcBench.ROUNDS_OF_SWEEP, children, GcBench.UNITS);
    overTime.plots().forEach(session.figures()::plot);
    pruning(session.figures());
    readers(session, frequencies);
  }

  private static void pruning(Figures figures) {
    PointTable table = new PointTable("What does eager pruning change? (Table 11)");
    Plot chains =
        new Plot(
            "How long does a chain get, with and without eager pruning? (Table 11)",
            Plot.Form.BARS,
            "readers",
            "older versions",
            /* logarithmic= */ true);
    for (String what : List.of(HELD, EACH)) {
      for (GcStrategies each : List.of(GcStrategies.WATERMARK, GcStrategies.EAGER)) {
        String point = ',' + what + ',' + each.variant();
        PRUNING.forEach(
            row -> table.cell(row.getKey(), each.variant() + ", " + what, row.getValue() + point));
        chains.mark(each.variant(), what, CHAIN + point);
      }
    }
    figures.table(table);
    figures.plot(chains);
  }

  private static void readers(ForkSession session, Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    List<ForkSession.Child> children = new ArrayList<>();
    Plot writes = plot("How many transactions a second beside readers?", "readers", "1/s");
    Plot reads = plot("How many rows a second do readers read?", "readers", "1/s");
    String varies = "readers=" + String.join(",", READERS);
    for (GcStrategies each : GcStrategies.values()) {
      Time time = new Time(MILLIS_OF_READERS, MILLIS_OF_READERS);
      children.add(child(session, each, "", "each", time, frequencies, varies));
      for (String readers : READERS) {
        String point = ",readers=" + readers + ',' + each.variant();
        writes.mark(each.variant(), readers, WRITES + point);
        reads.mark(each.variant(), readers, READS + point);
      }
    }
    session.run("CH, by readers", GcBench.ROUNDS_OF_SWEEP, children, GcBench.UNITS);
    session.figures().plot(writes);
    session.figures().plot(reads);
  }

  /** How long a measurement is, and each of its reported parts. */
  private record Time(int millis, int part) {
    int parts() {
      return millis / part;
    }
  }

  /** The plots of results over time. */
  private static final class Series {
    private final String what;
    private final Map<String, Plot> plots = new LinkedHashMap<>();

    Series(String what) {
      this.what = what;
      plots.put(WRITES, plot("Transactions a second over time, " + what, "seconds", "1/s"));
      plots.put(READS, plot("Rows read a second over time, " + what, "seconds", "1/s"));
      plots.put(
          "version_memory_bytes",
          plot("Memory of older versions over time, " + what, "seconds", "bytes"));
      plots.put(CHAIN, plot("Longest chain so far, " + what, "seconds", "versions"));
    }

    void mark(GcStrategies strategy, Time time) {
      for (int part = 1; part <= time.parts(); part++) {
        String place =
            BigDecimal.valueOf((long) part * time.part(), 3).stripTrailingZeros().toPlainString();
        String point = ",part=" + part + ',' + what + ',' + strategy.variant();
        plots.forEach((metric, plot) -> plot.mark(strategy.variant(), place, metric + point));
      }
    }

    Collection<Plot> plots() {
      return plots.values();
    }
  }

  private static Plot plot(String question, String x, String y) {
    return new Plot(question, Plot.Form.LINES, x, y, /* logarithmic= */ false);
  }

  private static String scale(ForkSession session) {
    return session.quick() ? "0.05" : "0.5";
  }

  private static ForkSession.Child overTime(
      ForkSession session,
      GcStrategies strategy,
      String what,
      String snapshots,
      Time time,
      Map<GcStrategies, Long> frequencies)
      throws CannotMeasureException {
    return child(session, strategy, what, snapshots, time, frequencies, /* varies= */ "");
  }

  private static ForkSession.Child child(
      ForkSession session,
      GcStrategies strategy,
      String what,
      String snapshots,
      Time time,
      Map<GcStrategies, Long> frequencies,
      String varies)
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
            "1",
            snapshots,
            session.sized(1_000, WARM),
            Integer.toString(time.millis()),
            Integer.toString(time.parts()),
            session.seed(),
            varies,
            "ROUND"));
  }
}
