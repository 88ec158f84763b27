package org.revenantdb.jmh.cli;

import static org.revenantdb.jmh.cli.LatchSession.OURS;
import static org.revenantdb.jmh.cli.LatchSession.WRITERS;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.revenantdb.jmh.contend.ContentionPoint;
import org.revenantdb.jmh.latch.Writers;

/**
 * Whether all threads get the latch equally often over seconds, and the cost and gain of the time
 * after which it is handed over: figures 20, 22 and 23 of the thesis.
 */
final class LatchFairness {
  private static final int THREADS = 8;
  private static final int SECTION = 100;
  private static final long SECONDS = 5;
  private static final long NEVER = TimeUnit.HOURS.toNanos(1);
  private static final String PROPERTY = "revenant.latch.fairnessNanos";

  private LatchFairness() {}

  /** Jain's index of eight threads over five seconds, the worse of platform and virtual ones. */
  static void overSeconds(LatchSession session) throws CannotMeasureException {
    List<ContentionPoint> points =
        List.of(
            new ContentionPoint(THREADS, /* virtual= */ false, SECTION),
            new ContentionPoint(THREADS, /* virtual= */ true, SECTION));
    ContendedRounds.Plan plan =
        new ContendedRounds.Plan(
            points, 50, TimeUnit.SECONDS.toMillis(SECONDS), session.quick() ? 1 : 3);
    List<ContendedRounds.Variant> variants =
        WRITERS.stream()
            .filter(it -> !session.quick() || it.name().equals(OURS))
            .map(it -> new ContendedRounds.Variant("5s:" + it.name(), it.contender()))
            .toList();
    Figures figures = session.figures();
    Map<String, Sample> samples =
        session.contended().run("latch, fairness over 5 s", variants, plan, figures);
    Plot plot =
        new Plot(
            "How fair over five seconds, 8 threads, sections of 100 us?",
            Plot.Form.BARS,
            "threads",
            "Jain's index",
            /* logarithmic= */ false);
    double worst = 1;
    for (ContentionPoint point : points) {
      for (ContendedRounds.Variant variant : variants) {
        plot.mark(
            variant.name(),
            point.virtual() ? "virtual" : "platform",
            ContendedRounds.name("jain", variant.name(), point));
      }
      worst = Math.min(worst, LatchSession.median(samples, "jain", "5s:" + OURS, point));
    }
    figures.plot(plot);
    figures.put("jain_100us", worst);
  }

  /** One JVM for each fairness time, which the parking lot reads when it is loaded. */
  static void sweep(LatchSession session) throws CannotMeasureException {
    Map<String, Long> times = new LinkedHashMap<>();
    times.put("0", 0L);
    if (!session.quick()) {
      times.put("100 us", TimeUnit.MICROSECONDS.toNanos(100));
      times.put("300 us", TimeUnit.MICROSECONDS.toNanos(300));
    }
    times.put("1 ms", TimeUnit.MILLISECONDS.toNanos(1));
    if (!session.quick()) {
      times.put("3 ms", TimeUnit.MILLISECONDS.toNanos(3));
      times.put("10 ms", TimeUnit.MILLISECONDS.toNanos(10));
    }
    times.put("never", NEVER);
    List<Integer> sections = session.quick() ? List.of(0, 100) : List.of(0, 1, 10, 100);
    List<ContentionPoint> points =
        sections.stream()
            .map(section -> new ContentionPoint(THREADS, /* virtual= */ false, section))
            .toList();
    List<ContendedRounds.Variant> variants = new ArrayList<>();
    times.forEach((name, nanos) ->
        variants.add(
            new ContendedRounds.Variant(
                "fairness:" + name, Writers.Hybrid.class, List.of("-D" + PROPERTY + "=" + nanos))));
    ContendedRounds.Plan plan =
        session.quick()
            ? new ContendedRounds.Plan(points, 20, 100, session.rounds().wanted())
            : new ContendedRounds.Plan(points, 50, 500, session.rounds().wanted());
    Figures figures = session.figures();
    session.contended().run("latch, fairness times", variants, plan, figures);
    figures.setting("fairness times", PROPERTY + "; never is an hour; " + THREADS + " threads");
    plot(figures, "What does the fairness time cost?", "1/s", "throughput", times, points);
    plot(figures, "What does the fairness time gain?", "Jain's index", "jain", times, points);
  }

  private static void plot(
      Figures figures,
      String question,
      String unit,
      String metric,
      Map<String, Long> times,
      List<ContentionPoint> points) {
    boolean logarithmic = metric.equals("throughput");
    Plot plot = new Plot(question, Plot.Form.LINES, "fairness time", unit, logarithmic);
    for (ContentionPoint point : points) {
      for (String time : times.keySet()) {
        plot.mark(
            "sections of " + point.sectionMicros() + " us",
            time,
            ContendedRounds.name(metric, "fairness:" + time, point));
      }
    }
    figures.plot(plot);
  }
}
