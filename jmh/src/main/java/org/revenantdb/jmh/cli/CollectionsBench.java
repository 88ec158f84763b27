package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Version;
import org.revenantdb.jmh.CollectionsBenchmark;
import org.revenantdb.jmh.work.HotRowFork;
import org.revenantdb.jmh.work.IdleFork;
import org.revenantdb.jmh.work.WorkQueueFork;

/**
 * What the typed layer costs over the byte API, by {@link CollectionsBenchmark}; and queues, merges
 * and inserts with indexes, by the JVMs of {@code jmh.work}.
 */
final class CollectionsBench implements Bench {
  private static final String TYPED = "typed_ratio";
  private static final String GET_ALL = "get_all_speedup";
  private static final String QUEUE = "queue_vs_best";
  private static final String IDLE = "idle_cpu";
  private static final String MERGE = "merge_speedup";

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
    return List.of(TYPED, GET_ALL, QUEUE, IDLE, MERGE, IndexedInserts.FIGURE);
  }

  @Override
  public boolean measuresSome() {
    return true;
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    if (settings.wants(TYPED, GET_ALL)) {
      measureTyped(settings, figures);
    }
    Rounds rounds = Rounds.of(settings, settings.quick() ? 1 : 5);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      if (settings.wants(QUEUE)) {
        figures.attempt(() -> measureQueue(session));
      }
      if (settings.wants(IDLE)) {
        figures.attempt(() -> measureIdle(session));
      }
      if (settings.wants(MERGE)) {
        figures.attempt(() -> measureMerge(session));
      }
      if (settings.wants(IndexedInserts.FIGURE)) {
        figures.attempt(() -> IndexedInserts.measure(session));
      }
    } catch (IOException e) {
      throw new CannotMeasureException("collections: no directory", e);
    }
    if (!settings.wants(TYPED, GET_ALL)) {
      figures.rounds(rounds.tally());
    }
  }

  private void measureTyped(Settings settings, Figures figures) throws CannotMeasureException {
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
        TYPED,
        Math.min(ratio(points, "getBytes", "getTyped"), ratio(points, "putBytes", "putTyped")));
    figures.put(GET_ALL, ratio(points, "gets", "getAll"));
  }

  private static void measureQueue(ForkSession session) throws CannotMeasureException {
    List<ForkSession.Child> children =
        Stream.of("revenant", "sqlite", "h2")
            .map(engine ->
                new ForkSession.Child(
                    "engine=" + engine,
                    WorkQueueFork.class,
                    Peers.NATIVE,
                    null,
                    List.of(
                        "DIRECTORY",
                        engine,
                        "8",
                        session.sized(1000, 10_000), // the compilers of ours and H2 need it
                        session.sized(1000, 4000))))
            .toList();
    Map<String, Sample> samples =
        session.run("collections, queue", children, Map.of("items", "1/s", "item_cpu_us", "us"));
    double best =
        Math.max(
            ForkSession.median(samples, "items,engine=sqlite"),
            ForkSession.median(samples, "items,engine=h2"));
    session.figures().put(QUEUE, ForkSession.median(samples, "items,engine=revenant") / best);
    session
        .figures()
        .setting(
            "queue",
            "8 sessions, each puts an item and takes one, both durable; H2 by CHECKPOINT SYNC;"
                + " statements of SQL are prepared once");
  }

  private static void measureIdle(ForkSession session) throws CannotMeasureException {
    List<ForkSession.Child> children =
        List.of(
            new ForkSession.Child(
                "consumers=1000",
                IdleFork.class,
                "DIRECTORY",
                "1000",
                session.sized(4000, 15_000),
                session.sized(4000, 30_000)));
    Map<String, Sample> samples =
        session.run("collections, idle", children, Map.of("idle_percent", "%"));
    session.figures().put(IDLE, ForkSession.median(samples, "idle_percent,consumers=1000"));
  }

  /** With lazy commits as well, which are points only. */
  private static void measureMerge(ForkSession session) throws CannotMeasureException {
    List<ForkSession.Child> children =
        Stream.of("DURABLE", "LAZY")
            .flatMap(durability ->
                Stream.of("merge", "wait", "retry")
                    .map(how ->
                        new ForkSession.Child(
                            durability.toLowerCase(Locale.ROOT) + ",by=" + how,
                            HotRowFork.class,
                            "DIRECTORY",
                            how,
                            durability,
                            "32",
                            session.sized(800, 3000),
                            session.sized(1000, 4000))))
            .toList();
    Map<String, Sample> samples =
        session.run(
            "collections, one row", children, Map.of("counts", "1/s", "count_cpu_us", "us"));
    double best =
        Math.max(
            ForkSession.median(samples, "counts,durable,by=wait"),
            ForkSession.median(samples, "counts,durable,by=retry"));
    session.figures().put(MERGE, ForkSession.median(samples, "counts,durable,by=merge") / best);
    session.figures().setting("one row", "32 sessions on platform threads, durable");
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
        List.of("getBytes", "getTyped", "putBytes", "putTyped", "gets", "getAll", "getAllEach")) {
      plot.mark(operation, operation, operation);
    }
    figures.plot(plot);
  }
}
