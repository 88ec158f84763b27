package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.contend.ContentionPoint;
import org.revenantdb.jmh.latch.Writers;

/**
 * One run of {@code bench latch}, as all its parts see it.
 *
 * @param contended runs of many threads
 */
record LatchSession(
    Bench.Settings settings, Figures figures, Rounds rounds, ContendedRounds contended) {

  /** The name of our latch among the variants. */
  static final String OURS = "hybrid";

  static final List<ContendedRounds.Variant> WRITERS =
      List.of(
          new ContendedRounds.Variant(OURS, Writers.Hybrid.class),
          new ContendedRounds.Variant("stamped", Writers.Stamped.class),
          new ContendedRounds.Variant("rwUnfair", Writers.ReadWriteUnfair.class),
          new ContendedRounds.Variant("rwFair", Writers.ReadWriteFair.class),
          new ContendedRounds.Variant("reentrantUnfair", Writers.ReentrantUnfair.class),
          new ContendedRounds.Variant("reentrantFair", Writers.ReentrantFair.class),
          new ContendedRounds.Variant("synchronized", Writers.Synchronized.class));

  boolean quick() {
    return settings.quick();
  }

  /** The median of a point, which must have been measured. */
  static double median(
      Map<String, Sample> samples, String metric, String variant, ContentionPoint point)
      throws CannotMeasureException {
    return median(samples, ContendedRounds.name(metric, variant, point));
  }

  /** The median of a point, which must have been measured. */
  static double median(Map<String, Sample> samples, String name) throws CannotMeasureException {
    Sample sample = samples.get(name);
    if (sample == null) {
      throw new CannotMeasureException("there is no " + name);
    }
    return sample.median();
  }
}
