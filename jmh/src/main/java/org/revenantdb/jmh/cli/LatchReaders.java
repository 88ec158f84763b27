package org.revenantdb.jmh.cli;

import java.util.List;
import org.revenantdb.jmh.contend.ContentionPoint;
import org.revenantdb.jmh.latch.Readers;

/** Many readers and no writer: whether more of them read more. */
final class LatchReaders {
  private static final List<ContendedRounds.Variant> READERS =
      List.of(
          new ContendedRounds.Variant("hybridShared", Readers.HybridShared.class),
          new ContendedRounds.Variant("hybridOptimistic", Readers.HybridOptimistic.class),
          new ContendedRounds.Variant("stampedShared", Readers.StampedShared.class),
          new ContendedRounds.Variant("stampedOptimistic", Readers.StampedOptimistic.class),
          new ContendedRounds.Variant("rwUnfair", Readers.ReadWriteUnfair.class),
          new ContendedRounds.Variant("rwFair", Readers.ReadWriteFair.class));

  private LatchReaders() {}

  static void measure(LatchSession session) throws CannotMeasureException {
    List<Integer> threads = session.quick() ? List.of(1, 2, 8) : List.of(1, 2, 4, 8, 16, 32, 64);
    List<ContentionPoint> points =
        threads.stream().map(n -> new ContentionPoint(n, /* virtual= */ false, 0)).toList();
    ContendedRounds.Plan plan =
        session.quick()
            ? new ContendedRounds.Plan(points, 10, 50, session.rounds().wanted())
            : new ContendedRounds.Plan(points, 50, 250, session.rounds().wanted());
    // Distinguished from the points of the writers, because those of the rw locks would have the
    // same names.
    List<ContendedRounds.Variant> named =
        READERS.stream()
            .map(it -> new ContendedRounds.Variant("read:" + it.name(), it.contender()))
            .toList();
    session.contended().run("latch, readers", named, plan, session.figures());
    Plot plot =
        new Plot(
            "How many reads a second, without a writer?",
            Plot.Form.LINES,
            "threads",
            "1/s",
            /* logarithmic= */ true);
    for (ContendedRounds.Variant variant : named) {
      for (ContentionPoint point : points) {
        plot.mark(
            variant.name(),
            Integer.toString(point.threads()),
            ContendedRounds.name("throughput", variant.name(), point));
      }
    }
    session.figures().plot(plot);
  }
}
