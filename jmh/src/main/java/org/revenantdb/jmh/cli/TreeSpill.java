package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.tree.SpillFork;

/**
 * Rows five times larger than the pool. The system's cache holds what a pool does not, because
 * nothing limits it here. So this compares the path from there into the engine, not a disk.
 */
final class TreeSpill {
  private static final Map<String, String> UNITS =
      Map.of("spilled_load", "1/s", "spilled_reads", "1/s");

  /** The figure. */
  static final String FIGURE = "miss_overhead_growth";

  private TreeSpill() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String rows = session.sized(200_000, 2_000_000);
    String heap = session.quick() ? "768m" : "3g";
    figures.setting(
        "spilled",
        "the pool is a fifth of the bytes of keys and values; the system caches the files, without"
            + " a limit, and of LMDB all of it; two threads, 100 reads a transaction");
    figures.setting(
        FIGURE,
        "pages read an operation, counted, divided by the part of the tree's pages for which there"
            + " is no frame");
    List<TreeEngines> engines =
        session.quick() ? List.of(TreeEngines.OURS) : TreeEngines.of(/* quick= */ false);
    List<ForkSession.Child> children = new ArrayList<>();
    Plot plot =
        new Plot(
            "How many point reads a second, five times more than the pool?",
            Plot.Form.BARS,
            "engine",
            "1/s",
            /* logarithmic= */ true);
    for (TreeEngines engine : engines) {
      if (engine != TreeEngines.MAP) { // it has no pages
        plot.mark(engine.variant(), "reads", "spilled_reads," + engine.variant());
        children.add(
            new ForkSession.Child(
                engine.variant(),
                SpillFork.class,
                engine.flags(heap),
                null,
                List.of(
                    engine.className(),
                    "DIRECTORY",
                    rows,
                    session.sized(200, 1500),
                    session.sized(700, 3000),
                    session.seed())));
      }
    }
    figures.plot(plot);
    Map<String, Sample> samples = session.run("tree, beyond memory", children, UNITS);
    figures.put(
        FIGURE,
        ForkSession.median(samples, "pages_per_read,ours")
            / ForkSession.median(samples, "theoretical_pages_per_read,ours"));
  }
}
