package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.revenantdb.jmh.OffHeapAccessBenchmark;

/**
 * How the slices that pages are reached by compare with other ways without a flag, by {@link
 * OffHeapAccessBenchmark}.
 */
final class OffHeapBench implements Bench {
  private static final List<String> OTHERS = List.of("segment", "buffer", "array");
  private static final List<String> OPERATIONS = List.of("read", "cas", "copy", "search");

  @Override
  public String name() {
    return "off-heap";
  }

  @Override
  public String question() {
    return "What does it cost to work on a page off heap, by the way in which it is reached?";
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    String[] sizes = settings.quick() ? new String[] {"64"} : new String[] {"64", "262144"};
    int rounds = settings.quick() ? 3 : 5;
    TimeValue each = TimeValue.milliseconds(settings.quick() ? 100 : 250);
    Map<String, Sample> points;
    try {
      points =
          JmhRounds.run(
              new OptionsBuilder()
                  .include(OffHeapAccessBenchmark.class.getName())
                  .param("kibibytes", sizes),
              rounds,
              3,
              settings.quick() ? 3 : 4,
              each);
    } catch (RunnerException e) {
      throw new CannotMeasureException("off-heap: " + e.getMessage(), e);
    }
    points.forEach(figures::point);
    figures.setting("rounds", rounds);
    figures.setting("page", "8 KiB, random of the region; slabs of 4 MiB");
    for (String other : OTHERS) {
      double worst = Double.POSITIVE_INFINITY;
      for (String operation : OPERATIONS) {
        for (String size : sizes) {
          Sample ours = points.get(operation + "_slice,kibibytes=" + size);
          Sample theirs = points.get(operation + "_" + other + ",kibibytes=" + size);
          if (ours != null && theirs != null) { // an array cannot compare and set
            worst = Math.min(worst, theirs.median() / ours.median());
          }
        }
      }
      figures.put("slice_vs_" + other, worst);
    }
  }
}
