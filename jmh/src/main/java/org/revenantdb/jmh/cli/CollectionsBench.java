package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Version;
import org.revenantdb.jmh.CollectionsBenchmark;

/** What the typed layer costs over the byte API, by {@link CollectionsBenchmark}. */
final class CollectionsBench implements Bench {
  @Override
  public String name() {
    return "collections";
  }

  @Override
  public String question() {
    return "What do typed tables cost, compared with the byte API?";
  }

  @Override
  public List<String> promises() {
    return List.of("typed_ratio", "get_all_speedup");
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    JmhRounds.Plan plan =
        settings.quick()
            ? new JmhRounds.Plan(4, TimeValue.milliseconds(500), 9, TimeValue.milliseconds(100))
            : new JmhRounds.Plan(5, TimeValue.seconds(1), 15, TimeValue.milliseconds(300));
    Rounds rounds = Rounds.of(settings, settings.quick() ? 3 : 5);
    Map<String, Sample> points =
        JmhRounds.run(
            name(),
            rounds,
            new OptionsBuilder()
                .include(CollectionsBenchmark.class.getName())
                .addProfiler(GCProfiler.class),
            plan);
    figures.rounds(rounds.tally());
    plot(figures);
    points.forEach(figures::point);
    figures.version("JMH", Version.getPlainVersion());
    figures.setting("rows", "100,000, keys are numbers, values texts of 100 characters");
    figures.setting("operation", "100 rows in a transaction; puts are lazy");
    figures.put(
        "typed_ratio",
        Math.min(ratio(points, "getBytes", "getTyped"), ratio(points, "putBytes", "putTyped")));
    figures.put("get_all_speedup", ratio(points, "gets", "getAll"));
  }

  /** How much faster the other one is. */
  private static double ratio(Map<String, Sample> points, String one, String other)
      throws CannotMeasureException {
    Sample first = points.get(one);
    Sample second = points.get(other);
    if (first == null || second == null) {
      throw new CannotMeasureException("collections: " + one + " or " + other + " has no time");
    }
    return first.median() / second.median();
  }

  private static void plot(Figures figures) {
    Plot plot =
        new Plot(
            "What do 100 rows cost?", Plot.Form.BARS, "operation", "ns", /* logarithmic= */ false);
    for (String operation :
        List.of("getBytes", "getTyped", "putBytes", "putTyped", "gets", "getAll")) {
      plot.mark(operation, operation, operation);
    }
    figures.plot(plot);
  }
}
