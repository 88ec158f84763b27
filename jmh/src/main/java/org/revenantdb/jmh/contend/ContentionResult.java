package org.revenantdb.jmh.contend;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The result of one contended run.
 *
 * @param seconds how long it was measured
 * @param counts the acquisitions of each thread in that time
 * @param waits the waiting times, timed as often as the point requires
 * @param cpuSeconds processor time of the whole process in that time
 */
public record ContentionResult(
    double seconds, List<Long> counts, WaitHistogram waits, double cpuSeconds) {

  /** Copies the counts. */
  public ContentionResult {
    counts = List.copyOf(counts);
  }

  /**
   * All acquisitions.
   *
   * @return their number
   */
  public long total() {
    return counts.stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Jain's index of fairness: the square of the sum, divided by n times the sum of the squares.
   *
   * @return 1 if all threads got as much, 1/n if one got everything; 1 if there was nothing to get
   */
  public double jain() {
    double sum = 0;
    double squares = 0;
    for (long count : counts) {
      sum += count;
      squares += (double) count * count;
    }
    return squares == 0 ? 1 : sum * sum / (counts.size() * squares);
  }

  /**
   * All that was measured, by name; seconds, or nanoseconds where it is about one acquisition.
   *
   * @return throughput per second, Jain's index, waits, processor time
   */
  public Map<String, Double> metrics() {
    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("throughput", total() / seconds);
    metrics.put("jain", jain());
    if (waits.count() > 0) {
      metrics.put("wait_p50", (double) waits.percentile(0.5));
      metrics.put("wait_p99", (double) waits.percentile(0.99));
      metrics.put("wait_p999", (double) waits.percentile(0.999));
      metrics.put("wait_max", (double) waits.max());
    }
    metrics.put("cpu_per_second", cpuSeconds / seconds);
    if (total() > 0) {
      metrics.put("cpu_per_acquisition", cpuSeconds * 1e9 / total());
    }
    return metrics;
  }
}
