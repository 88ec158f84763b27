package org.revenantdb.jmh.cli;

import static org.revenantdb.jmh.cli.LatchSession.OURS;
import static org.revenantdb.jmh.cli.LatchSession.WRITERS;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.contend.ContentionPoint;

/**
 * Many writers: throughput, fairness, waits and processor time, by threads and length of the
 * critical section. Platform threads give the figures; virtual threads are additional points.
 */
final class LatchWriters {
  private static final int SHORT_SECTION = 1;
  private static final int LONG_SECTION = 100;
  private static final int CROWD = 10_000;

  private LatchWriters() {}

  static void measure(LatchSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    List<Integer> threads =
        session.quick() ? List.of(1, 2, 8, 64) : List.of(1, 2, 4, 8, 16, 32, 64);
    List<Integer> sections = session.quick() ? List.of(0, 100) : List.of(0, 1, 10, 100);
    List<ContentionPoint> platform = new ArrayList<>();
    List<ContentionPoint> virtual = new ArrayList<>();
    for (int section : sections) {
      threads.forEach(n -> platform.add(new ContentionPoint(n, /* virtual= */ false, section)));
      virtual.add(new ContentionPoint(8, /* virtual= */ true, section));
    }
    if (!session.quick()) {
      virtual.add(new ContentionPoint(CROWD, /* virtual= */ true, 0));
      virtual.add(new ContentionPoint(CROWD, /* virtual= */ true, LONG_SECTION));
    }
    List<ContentionPoint> all = new ArrayList<>(platform);
    all.addAll(virtual);
    ContendedRounds.Plan plan =
        session.quick()
            ? new ContendedRounds.Plan(all, 20, 80, session.rounds().wanted())
            : new ContendedRounds.Plan(all, 50, 200, session.rounds().wanted());
    figures.setting(
        "writers",
        "increment two fields and work for the section's time; nothing outside the lock; the wait of each"
            + " acquisition is timed from 10 us, else of each 64th; "
            + plan.windowMillis()
            + " ms a point");
    figures.setting("ratio_contended, vs_fair_rrwl", "platform threads, 2 or more");
    Map<String, Sample> samples = session.contended().run("latch, writers", WRITERS, plan, figures);
    plot(figures, platform, virtual, sections);
    compare(figures, samples, platform);
  }

  private static void compare(
      Figures figures, Map<String, Sample> samples, List<ContentionPoint> points)
      throws CannotMeasureException {
    List<Double> againstBest = new ArrayList<>();
    double againstFair = Double.POSITIVE_INFINITY;
    for (ContentionPoint point : points) {
      if (point.threads() < 2) {
        continue;
      }
      double ours = LatchSession.median(samples, "throughput", OURS, point);
      double best = 0;
      for (ContendedRounds.Variant variant : WRITERS) {
        if (!variant.name().equals(OURS)) {
          best = Math.max(best, LatchSession.median(samples, "throughput", variant.name(), point));
        }
      }
      againstBest.add(ours / best);
      if (point.sectionMicros() <= SHORT_SECTION) {
        double fair = LatchSession.median(samples, "throughput", "rwFair", point);
        againstFair = Math.min(againstFair, ours / fair);
      }
    }
    Sample ratios = Sample.of(againstBest, "");
    figures.put("ratio_contended", againstBest.stream().min(Double::compare).orElseThrow());
    figures.put("ratio_contended_median", ratios.median());
    figures.put("vs_fair_rrwl", againstFair);
  }

  private static void plot(
      Figures figures,
      List<ContentionPoint> platform,
      List<ContentionPoint> virtual,
      List<Integer> sections) {
    for (int section : sections) {
      String where = ", with sections of " + section + " us?";
      List<ContentionPoint> row =
          platform.stream().filter(point -> point.sectionMicros() == section).toList();
      lines(figures, "How many acquisitions a second" + where, "1/s", true, "throughput", row);
      lines(figures, "How fair" + where, "Jain's index", false, "jain", row);
      lines(figures, "How long do 99 of 100 wait at most" + where, "ns", true, "wait_p99", row);
      lines(figures, "How long does one wait at most" + where, "ns", true, "wait_max", row);
    }
    List<ContentionPoint> burning =
        platform.stream().filter(point -> point.sectionMicros() == LONG_SECTION).toList();
    String work = "How much processor time goes into a second with sections of 100 us?";
    lines(figures, work, "s/s", false, "cpu_per_second", burning);
    String each = "How much processor time goes into one acquisition, of which 100 us are work?";
    lines(figures, each, "ns", false, "cpu_per_acquisition", burning);
    bars(
        figures,
        "How many acquisitions a second, of virtual threads?",
        "1/s",
        "throughput",
        virtual);
    bars(figures, "How fair among virtual threads?", "Jain's index", "jain", virtual);
  }

  private static void lines(
      Figures figures,
      String question,
      String unit,
      boolean logarithmic,
      String metric,
      List<ContentionPoint> points) {
    Plot plot = new Plot(question, Plot.Form.LINES, "threads", unit, logarithmic);
    for (ContendedRounds.Variant variant : WRITERS) {
      for (ContentionPoint point : points) {
        plot.mark(
            variant.name(),
            Integer.toString(point.threads()),
            ContendedRounds.name(metric, variant.name(), point));
      }
    }
    figures.plot(plot);
  }

  private static void bars(
      Figures figures, String question, String unit, String metric, List<ContentionPoint> points) {
    boolean logarithmic = metric.equals("throughput");
    Plot plot = new Plot(question, Plot.Form.BARS, "threads, section", unit, logarithmic);
    for (ContendedRounds.Variant variant : WRITERS) {
      for (ContentionPoint point : points) {
        plot.mark(
            variant.name(),
            point.threads() + ", " + point.sectionMicros() + " us",
            ContendedRounds.name(metric, variant.name(), point));
      }
    }
    figures.plot(plot);
  }
}
