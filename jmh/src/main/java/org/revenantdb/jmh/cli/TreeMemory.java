package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.tree.TreeFork;

/** Rows that all fit into memory, compared with other engines. */
final class TreeMemory {
  private static final Map<String, String> UNITS =
      Map.of(
          "load", "1/s",
          "load_sorted", "1/s",
          "load_unsorted", "1/s",
          "settle_ms", "ms",
          "reads", "1/s",
          "scans", "1/s",
          "updates", "1/s",
          "mix", "1/s",
          "bytes_per_read", "B");

  static final List<String> READS =
      List.of(
          "reads,threads=1,per_tx=1",
          "reads,threads=1,per_tx=100",
          "reads,threads=2,per_tx=1",
          "reads,threads=2,per_tx=100");
  static final List<String> SCANS = List.of("scans,threads=1", "scans,threads=2");
  static final List<String> UPDATES = List.of("updates,threads=1", "updates,threads=2");
  static final String MIX_95 = "mix,reads=95";
  static final String MIX_50 = "mix,reads=50";
  private static final String LOAD = "load";
  private static final String LOAD_SORTED = "load_sorted";
  private static final String LOAD_UNSORTED = "load_unsorted";

  static final List<String> FIGURES =
      List.of(
          "read_vs_lmdb",
          "scan_vs_lmdb",
          "update_vs_tupl",
          "mix95_vs_tupl",
          "mix50_vs_tupl",
          "load_vs_tupl",
          "bulk_unsorted_rows_per_second",
          "bytes_per_read");

  private TreeMemory() {}

  static String rows(ForkSession session) {
    return session.sized(200_000, 2_000_000);
  }

  /** Bytes of memory for pages. */
  static String cache(ForkSession session) {
    return session.sized(256 << 20, 1 << 30);
  }

  static String heap(ForkSession session) {
    return session.quick() ? "768m" : "3g";
  }

  /** Notes what all that are compared here share. */
  static void describe(ForkSession session) {
    Figures figures = session.figures();
    figures.setting("rows", rows(session) + ", keys of 16 bytes, values of 100");
    figures.setting(
        "memory", cache(session) + " bytes for pages, heap of the JVM " + heap(session));
    TreeEngines.of(session.quick()).forEach(engine -> engine.describe(figures));
  }

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String rows = rows(session);
    String cache = cache(session);
    String heap = heap(session);
    figures.setting(
        "load",
        "ordinary puts in key order, 1,000 a commit, to the last commit; 300,000 rows at the most"
            + " went into another store before, to have the code compiled");
    figures.setting(
        "load_sorted",
        "at the end, into another table of the same store: a bulk load, logged, against MDB_APPEND"
            + " in one transaction; TuplDB 1.3, the newest that is published, has no sorter");
    figures.setting(
        "load_unsorted",
        "then into one more table: a bulk load of rows in no order, default options of the load; ours alone");
    figures.setting("mix", "2 threads, a transaction an operation, zipfian 0.99");
    List<TreeEngines> engines = TreeEngines.of(session.quick());
    List<ForkSession.Child> children = new ArrayList<>();
    for (TreeEngines engine : engines) {
      children.add(
          new ForkSession.Child(
              engine.variant(),
              TreeFork.class,
              engine.flags(heap),
              null,
              List.of(
                  engine.className(),
                  "DIRECTORY",
                  rows,
                  cache,
                  session.sized(100, 1000),
                  session.sized(400, 2500),
                  session.seed())));
    }
    plot(figures, engines, "How many point reads a second?", READS, /* ordered= */ false);
    plot(figures, engines, "How many scans of 100 rows a second?", SCANS, /* ordered= */ true);
    List<String> writes = new ArrayList<>(UPDATES);
    writes.addAll(List.of(MIX_95, MIX_50, LOAD, LOAD_SORTED, LOAD_UNSORTED));
    plot(figures, engines, "How many rows a second, written?", writes, /* ordered= */ false);
    Map<String, Sample> samples = session.run("tree, in memory", children, UNITS);
    figures.attempt(() -> put(session, samples, "read_vs_lmdb", TreeEngines.LMDB, READS));
    figures.attempt(() -> put(session, samples, "scan_vs_lmdb", TreeEngines.LMDB, SCANS));
    figures.attempt(() -> put(session, samples, "update_vs_tupl", TreeEngines.TUPL, UPDATES));
    figures.attempt(
        () -> put(session, samples, "mix95_vs_tupl", TreeEngines.TUPL, List.of(MIX_95)));
    figures.attempt(
        () -> put(session, samples, "mix50_vs_tupl", TreeEngines.TUPL, List.of(MIX_50)));
    figures.attempt(() -> put(session, samples, "load_vs_tupl", TreeEngines.TUPL, List.of(LOAD)));
    figures.attempt(() ->
        figures.put(
            "bulk_unsorted_rows_per_second",
            ForkSession.median(samples, LOAD_UNSORTED + "," + TreeEngines.OURS.variant())));
    figures.attempt(() -> putBytes(session, samples));
  }

  private static void put(
      ForkSession session,
      Map<String, Sample> samples,
      String figure,
      TreeEngines peer,
      List<String> points)
      throws CannotMeasureException {
    session.figures().put(figure, worst(samples, peer, points));
  }

  /** Ours divided by theirs, the worst point. */
  static double worst(Map<String, Sample> samples, TreeEngines peer, List<String> points)
      throws CannotMeasureException {
    double worst = Double.POSITIVE_INFINITY;
    for (String point : points) {
      worst =
          Math.min(
              worst,
              ForkSession.median(samples, point + "," + TreeEngines.OURS.variant())
                  / ForkSession.median(samples, point + "," + peer.variant()));
    }
    return worst;
  }

  /** What one read allocates in a transaction that is open; what that itself takes is a point. */
  private static void putBytes(ForkSession session, Map<String, Sample> samples)
      throws CannotMeasureException {
    session
        .figures()
        .setting(
            "bytes_per_read",
            "within a transaction that is open, by the Transaction.get that copies into an array of"
                + " the caller's");
    session
        .figures()
        .put(
            "bytes_per_read",
            ForkSession.median(samples, "bytes_per_read,open," + TreeEngines.OURS.variant()));
  }

  private static void plot(
      Figures figures,
      List<TreeEngines> engines,
      String question,
      List<String> points,
      boolean ordered) {
    Plot plot = new Plot(question, Plot.Form.BARS, "what", "1/s", /* logarithmic= */ true);
    for (TreeEngines engine : engines) {
      if (engine.isOrdered() || !ordered) {
        points.forEach(point -> plot.mark(engine.variant(), point, point + "," + engine.variant()));
      }
    }
    figures.plot(plot);
  }
}
