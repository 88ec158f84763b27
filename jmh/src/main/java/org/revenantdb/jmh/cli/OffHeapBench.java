package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Version;
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
  public List<String> promises() {
    return OTHERS.stream().map(other -> "slice_vs_" + other).toList();
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    String[] sizes = settings.quick() ? new String[] {"64"} : new String[] {"64", "262144"};
    JmhRounds.Plan plan =
        settings.quick()
            ? new JmhRounds.Plan(3, TimeValue.milliseconds(100), 9, TimeValue.milliseconds(30))
            : new JmhRounds.Plan(3, TimeValue.milliseconds(250), 9, TimeValue.milliseconds(100));
    Rounds rounds = Rounds.of(settings, settings.quick() ? 3 : 5);
    Map<String, Sample> points =
        JmhRounds.run(
            name(),
            rounds,
            new OptionsBuilder()
                .include(OffHeapAccessBenchmark.class.getName())
                .param("kibibytes", sizes),
            plan);
    figures.rounds(rounds.tally());
    for (String size : sizes) {
      plot(figures, size);
    }
    points.forEach(figures::point);
    figures.version("JMH", Version.getPlainVersion());
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

  private static void plot(Figures figures, String size) {
    Plot plot =
        new Plot(
            "What does an operation on a page cost, in a region of " + size + " KiB?",
            Plot.Form.BARS,
            "operation",
            "ns",
            /* logarithmic= */ true);
    for (String operation : OPERATIONS) {
      plot.mark("slice", operation, operation + "_slice,kibibytes=" + size);
      for (String other : OTHERS) {
        plot.mark(other, operation, operation + "_" + other + ",kibibytes=" + size);
      }
    }
    figures.plot(plot);
  }
}
