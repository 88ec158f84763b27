package org.revenantdb.jmh.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.baseline.EngineOfMemoryRing;
import org.revenantdb.jmh.commit.LazyFork;

/** What lazy commits pay for a ring that outlives the process. */
final class TreeRing {
  /**
   * The figure: lazy commits with the ring in a mapped file, divided by those with it in memory.
   */
  static final String FIGURE = "mapped_ring_ratio";

  private static final String MAPPED = "mapped file";
  private static final String MEMORY = "memory";

  private TreeRing() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Path memory =
        session.engine(
            "memory-ring",
            FIGURE + ": the engine with its ring in memory",
            EngineOfMemoryRing::write);
    List<String> arguments =
        List.of("DIRECTORY", session.sized(1500, 5000), session.sized(1500, 8000), session.seed());
    session
        .figures()
        .setting(
            FIGURE,
            "20,000 rows of 100 bytes, random ones updated, one a transaction, committed lazily by 1"
                + " and 2 sessions, default options; memory: the same engine with the ring of its log"
                + " in memory");
    Map<String, Sample> samples =
        session.run(
            "tree, the ring of the log",
            List.of(
                new ForkSession.Child(MAPPED, LazyFork.class, List.of(), null, arguments),
                new ForkSession.Child(MEMORY, LazyFork.class, List.of(), memory, arguments)),
            Map.of("lazy_commits", "1/s"));
    session.figures().put(FIGURE, worst(samples));
  }

  /** The worst point. */
  static double worst(Map<String, Sample> samples) throws CannotMeasureException {
    double worst = Double.POSITIVE_INFINITY;
    for (String point : LazyFork.points()) {
      double mapped = ForkSession.median(samples, point + "," + MAPPED);
      worst = Math.min(worst, mapped / ForkSession.median(samples, point + "," + MEMORY));
    }
    return worst;
  }
}
