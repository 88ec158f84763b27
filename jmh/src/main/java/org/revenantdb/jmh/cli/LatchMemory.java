package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.revenantdb.chaos.report.Progress;
import org.revenantdb.jmh.latch.LatchAllocation;
import org.revenantdb.jmh.latch.LatchFootprint;

/** What an unused latch takes of the heap, and what using it allocates. */
final class LatchMemory {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** Less than this is caused by the measurement: the JVM's own count, a class loaded. */
  private static final double NOISE = 0.01;

  private LatchMemory() {}

  static void measure(LatchSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    List<String> heap = List.of("-Xms256m", "-Xmx256m", "-XX:+UseSerialGC");
    double bytes = footprint(heap);
    figures.put("bytes_per_latch", bytes);
    figures.point("bytes_per_latch,headers=usual", Sample.of(List.of(bytes), "B"));
    List<String> compact =
        List.of("-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:+UseCompactObjectHeaders");
    figures.point("bytes_per_latch,headers=compact", Sample.of(List.of(footprint(compact)), "B"));
    Map<String, Double> allocated = run(LatchAllocation.class, heap);
    allocated.forEach(
        (name, perOperation) -> figures.point(name, Sample.of(List.of(perOperation), "B")));
    figures.put("bytes_allocated_uncontended", worst(allocated));
    figures.setting(
        "bytes_allocated_uncontended",
        "the worst mode, counted once, as it is no time; below " + NOISE + " is 0");
  }

  static double worst(Map<String, Double> allocated) throws CannotMeasureException {
    double worst =
        allocated.values().stream()
            .mapToDouble(Double::doubleValue)
            .max()
            .orElseThrow(() -> new CannotMeasureException("allocation: the JVM reported nothing"));
    return worst < NOISE ? 0 : worst;
  }

  /** To a hundredth: the heap of the JVM itself grows by some hundred bytes between two looks. */
  private static double footprint(List<String> flags) throws CannotMeasureException {
    Map<String, Double> values = run(LatchFootprint.class, flags);
    if (values.size() != 1) {
      throw new CannotMeasureException("size of a latch: " + values);
    }
    return Math.round(values.values().iterator().next() / NOISE) * NOISE;
  }

  private static Map<String, Double> run(Class<?> main, List<String> flags)
      throws CannotMeasureException {
    System.err.println(
        Progress.fitted(
            String.format(
                Locale.ROOT,
                "latch, memory: %s %s",
                main.getSimpleName(),
                String.join(" ", flags))));
    try {
      Fork.Said said = new Fork(main, flags, LIMIT).run();
      if (said.failed()) {
        throw new CannotMeasureException(said.failure());
      }
      said.values()
          .forEach((name, value) ->
              System.err.println(
                  Progress.fitted(String.format(Locale.ROOT, "  %-44s %10.4f", name, value))));
      return said.values();
    } catch (IOException e) {
      throw new CannotMeasureException("no JVM could be started for " + main, e);
    }
  }
}
