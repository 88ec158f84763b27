package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.commit.ReadersFork;

/**
 * How long readers wait while the queue is processed, lazily one by one or durably in batches, at
 * the same rate: figure 5 of the paper.
 */
final class CommitReaders {
  private static final String ENTRIES = "1000";
  private static final String READS = "500";

  /** The paper has the average; the others are additional. */
  private static final String AVERAGE = "mean_us";

  private static final List<String> TIMES = List.of(AVERAGE, "p50_us", "p99_us");

  private CommitReaders() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Map<String, ForkSession.Child> children = new LinkedHashMap<>();
    for (String readers : List.of("durable", "lazy")) {
      for (int batch : List.of(0, 10, 100, 1000)) {
        if (readers.equals("durable") || !session.quick()) {
          String name = name(batch, readers);
          children.put(
              name,
              new ForkSession.Child(
                  name,
                  ReadersFork.class,
                  "DIRECTORY",
                  Integer.toString(batch),
                  ENTRIES,
                  readers,
                  READS,
                  session.sized(300, 1000),
                  session.sized(1500, 5000),
                  session.seed()));
        }
      }
    }
    Map<String, Sample> samples =
        session.run(
            "commit, readers beside batches",
            session.quick() ? 1 : 3,
            new ArrayList<>(children.values()),
            Map.of(AVERAGE, "us", "p50_us", "us", "p99_us", "us", "entries", "1/s"));
    session
        .figures()
        .setting(
            "reader_response_vs_batching",
            "durable readers on both sides, "
                + READS
                + " reads and "
                + ENTRIES
                + " entries a second");
    for (String time : TIMES) {
      Plot plot =
          new Plot(
              "How long does a reader wait, " + time.replace("_us", "") + "?",
              Plot.Form.BARS,
              "entries in a transaction",
              "us",
              /* logarithmic= */ true);
      for (String child : children.keySet()) {
        plot.mark(
            child.endsWith("lazy") ? "lazy readers" : "durable readers",
            child.substring(0, child.indexOf(',')),
            time + "," + child);
      }
      session.figures().plot(plot);
    }
    double ours = ForkSession.median(samples, AVERAGE + "," + name(0, "durable"));
    double worst = Double.POSITIVE_INFINITY;
    for (int batch : List.of(10, 100, 1000)) {
      worst =
          Math.min(
              worst, ForkSession.median(samples, AVERAGE + "," + name(batch, "durable")) / ours);
    }
    session.figures().put("reader_response_vs_batching", worst);
  }

  private static String name(int batch, String readers) {
    return (batch == 0 ? "lazy" : "batch=" + batch) + ",readers=" + readers;
  }
}
