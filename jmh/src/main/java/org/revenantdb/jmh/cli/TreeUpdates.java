package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.tree.BigUpdateFork;
import org.revenantdb.jmh.tree.RandomUpdatesFork;
import org.revenantdb.jmh.tree.WideRevenantTree;

/**
 * Updates of random rows, one a transaction and very many a transaction, with default options:
 * beside ours with the widest bound of changed pages, and beside TuplDB.
 */
final class TreeUpdates {
  /** The figure: default options, divided by the widest bound. */
  static final String WIDE = "default_vs_wide";

  /** The figure: default options, divided by TuplDB with its own. */
  static final String TUPL = "default_update_vs_tupl";

  /** The figure: one large transaction, divided by TuplDB's. */
  static final String BIG = "big_update_vs_tupl";

  private static final String BIG_RATE = "big_update";
  private static final String WIDE_VARIANT = "widest bound";

  private static final Map<String, String> UNITS =
      Map.of("random_updates", "1/s", BIG_RATE, "1/s", "big_update_slowest", "1/s");

  private TreeUpdates() {}

  /** One row a transaction. */
  static void measureSmall(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    figures.setting(
        "random updates",
        "rows, memory and heap as above; rows all alike, one a transaction, committed lazily: 1 and"
            + " 2 threads, and 2 threads with 95 and 50 % reads; all other options are the defaults"
            + " of both engines; the widest bound is maxRecoveryPages as high as it goes");
    List<ForkSession.Child> children = new ArrayList<>();
    children.add(small(session, TreeEngines.OURS.variant(), TreeEngines.OURS.className()));
    children.add(small(session, WIDE_VARIANT, WideRevenantTree.class.getName()));
    children.add(small(session, TreeEngines.TUPL.variant(), TreeEngines.TUPL.className()));
    Plot plot =
        new Plot(
            "How many random updates, and reads beside them, a second?",
            Plot.Form.BARS,
            "what",
            "1/s",
            /* logarithmic= */ false);
    for (ForkSession.Child child : children) {
      RandomUpdatesFork.points()
          .forEach(point -> plot.mark(child.name(), point, point + "," + child.name()));
    }
    figures.plot(plot);
    Map<String, Sample> samples = session.run("tree, random updates", children, UNITS);
    figures.attempt(() -> figures.put(WIDE, worst(samples, WIDE_VARIANT)));
    figures.attempt(() -> figures.put(TUPL, worst(samples, TreeEngines.TUPL.variant())));
  }

  private static ForkSession.Child small(ForkSession session, String name, String engine) {
    return new ForkSession.Child(
        name,
        RandomUpdatesFork.class,
        flags(session, name),
        null,
        List.of(
            engine,
            "DIRECTORY",
            rows(session),
            cache(session),
            session.sized(100, 1000),
            session.sized(400, 4000),
            session.seed()));
  }

  /** Ours divided by another's, the worst point. */
  static double worst(Map<String, Sample> samples, String other) throws CannotMeasureException {
    double worst = Double.POSITIVE_INFINITY;
    for (String point : RandomUpdatesFork.points()) {
      double ours = ForkSession.median(samples, point + "," + TreeEngines.OURS.variant());
      worst = Math.min(worst, ours / ForkSession.median(samples, point + "," + other));
    }
    return worst;
  }

  /** A million of them a transaction. */
  static void measureBig(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String updates = session.sized(100_000, 1_000_000);
    figures.setting(
        BIG_RATE,
        updates
            + " updates of random rows in one transaction, from its begin to the return of the"
            + " commit, which is durable as both engines' are by themselves; the median of the"
            + " transactions of a JVM, checkpoints between them");
    List<ForkSession.Child> children = new ArrayList<>();
    for (TreeEngines engine : List.of(TreeEngines.OURS, TreeEngines.TUPL)) {
      children.add(
          new ForkSession.Child(
              engine.variant(),
              BigUpdateFork.class,
              flags(session, engine.variant()),
              null,
              List.of(
                  engine.className(),
                  "DIRECTORY",
                  rows(session),
                  cache(session),
                  updates,
                  session.sized(1, 2),
                  session.seed())));
    }
    Map<String, Sample> samples = session.run("tree, a large transaction", children, UNITS);
    figures.put(
        BIG,
        ForkSession.median(samples, BIG_RATE + "," + TreeEngines.OURS.variant())
            / ForkSession.median(samples, BIG_RATE + "," + TreeEngines.TUPL.variant()));
  }

  private static List<String> flags(ForkSession session, String variant) {
    TreeEngines engine =
        variant.equals(TreeEngines.TUPL.variant()) ? TreeEngines.TUPL : TreeEngines.OURS;
    return engine.flags(TreeMemory.heap(session));
  }

  private static String rows(ForkSession session) {
    return TreeMemory.rows(session);
  }

  private static String cache(ForkSession session) {
    return TreeMemory.cache(session);
  }
}
