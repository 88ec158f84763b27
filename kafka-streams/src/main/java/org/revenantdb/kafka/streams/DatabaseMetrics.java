package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.PageClassStatistics;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.Waits;

/**
 * What the database of an instance tells in the registry of Kafka Streams. All stores of the
 * instance share it, so each number is there once for the instance, and not for each store. Kafka
 * removes them with the other metrics of the instance.
 *
 * <p>Threads: any. A metric takes no lock that is held while a database is opened or closed.
 */
final class DatabaseMetrics {
  private static final String PREFIX = "revenant-";

  /** As docs/format.md has it. */
  private static final long PAGE_BYTES = 8_192;

  /** All metrics of one scrape come from one reading, which visits the whole pool. */
  static final long FRESH = TimeUnit.SECONDS.toNanos(1);

  /** What writers wait for when the disk or the memory is behind them. */
  private static final WaitClass[] STALLS = {
    WaitClass.LOG_WRITE,
    WaitClass.LOG_CREDIT,
    WaitClass.PAGE_CREDIT,
    WaitClass.FREE_FRAME,
    WaitClass.VERSION_MEMORY
  };

  private final SharedDatabase shared;
  private volatile @Nullable Reading last;

  /** The numbers of one moment. */
  private record Reading(
      SharedDatabase shared,
      DatabaseStatistics statistics,
      Waits waits,
      long filesBytes,
      long nanoTime) {
    private static double ratio(PageClassStatistics pages) {
      long all = pages.hits() + pages.misses();
      return all == 0 ? 0 : (double) pages.hits() / all;
    }

    private long pages(boolean onlyDirty) {
      return Stream.of(
              statistics.pool().leaf(),
              statistics.pool().inner(),
              statistics.pool().overflow(),
              statistics.pool().map())
          .mapToLong(pages -> onlyDirty ? pages.dirty() : pages.resident())
          .sum();
    }

    private long stalls() {
      long count = 0;
      for (WaitClass stall : STALLS) {
        count += waits.of(stall).count();
      }
      return count;
    }

    private double stallMillis() {
      double nanos = 0;
      for (WaitClass stall : STALLS) {
        nanos += waits.of(stall).totalNanos();
      }
      return nanos / TimeUnit.MILLISECONDS.toNanos(1);
    }
  }

  /** What is told, of which reading. */
  private record Metric(String name, String description, ToDoubleFunction<Reading> number) {
    private String text() {
      return PREFIX + name;
    }
  }

  /** In the order of the guide. */
  private static final List<Metric> METRICS =
      List.of(
          new Metric(
              "block-cache-capacity",
              "memory for pages in bytes",
              now -> now.shared.database().options().poolBytes()),
          new Metric(
              "block-cache-usage",
              "bytes of the memory for pages with a page in them",
              now -> PAGE_BYTES * now.pages(false)),
          new Metric(
              "block-cache-dirty",
              "bytes of the memory for pages with a page that has to be written",
              now -> PAGE_BYTES * now.pages(true)),
          new Metric(
              "block-cache-data-hit-ratio",
              "part of the accesses to leaves that found them in memory, since the database was opened",
              now -> Reading.ratio(now.statistics.pool().leaf())),
          new Metric(
              "block-cache-index-hit-ratio",
              "part of the accesses to inner pages that found them in memory, since the database was opened",
              now -> Reading.ratio(now.statistics.pool().inner())),
          new Metric(
              "total-files-size",
              "bytes of all files of the database, with its log",
              now -> now.filesBytes),
          new Metric(
              "file-bytes-written-total",
              "bytes written to files since the database was opened",
              now -> now.statistics.files().bytesWritten()),
          new Metric(
              "file-bytes-read-total",
              "bytes read from files since the database was opened",
              now -> now.statistics.files().bytesRead()),
          new Metric(
              "forces-total",
              "forces of files since the database was opened",
              now -> now.statistics.files().forces()),
          new Metric(
              "write-stall-duration-total",
              "milliseconds that writers waited for the disk or for memory, since the database was"
                  + " opened",
              Reading::stallMillis),
          new Metric(
              "write-stall-duration-avg",
              "average milliseconds of a wait of writers for the disk or for memory",
              now -> now.stallMillis() / Math.max(1, now.stalls())),
          new Metric(
              "num-open-iterators",
              "iterators that are open, of all stores",
              now -> now.shared.openIterators()),
          new Metric(
              "num-live-versions",
              "snapshots that are open: each keeps the older versions that it sees",
              now -> now.statistics.versions().snapshots()),
          new Metric(
              "older-versions-size",
              "bytes of older versions, in memory and in files",
              now ->
                  now.statistics.versions().memoryBytes() + now.statistics.versions().runBytes()),
          new Metric(
              "pages-to-clean",
              "pages with rows that the cleaner has to revert or remove",
              now ->
                  now.statistics.cleaning().pagesToVisit()
                      + now.statistics.cleaning().pagesMarked()),
          new Metric(
              "restoring-memory",
              "bytes of restored records in the heap that are not in their stores yet",
              now -> now.shared.gatheredBytes()),
          new Metric(
              "restoring-files-size",
              "bytes of files with restored records that are not in their stores yet",
              now -> now.shared.bytesInFiles()),
          new Metric(
              "background-errors",
              "statements that failed since the database was opened",
              now -> now.shared.failures()));

  DatabaseMetrics(SharedDatabase shared) {
    this.shared = shared;
  }

  /**
   * Adds the metrics to the registry of an instance, if they are not there. They are those of the
   * database that is open when somebody asks, and 0 if none is open.
   */
  static synchronized void addTo(StreamsMetricsImpl metrics, Path directory) {
    Metrics registry = metrics.metricsRegistry();
    for (Metric metric : METRICS) {
      boolean isThere =
          registry.metric(
                  registry.metricName(
                      metric.text(),
                      StreamsMetricsImpl.CLIENT_LEVEL_GROUP,
                      metrics.clientLevelTagMap()))
              != null;
      if (!isThere) {
        metrics.addClientLevelMutableMetric(
            metric.text(),
            "The " + metric.description,
            Sensor.RecordingLevel.INFO,
            (config, now) -> value(directory, metric));
      }
    }
  }

  private static double value(Path directory, Metric metric) {
    SharedDatabase open = SharedDatabase.ifOpen(directory);
    try {
      return open == null ? 0 : metric.number.applyAsDouble(open.metrics().read());
    } catch (RevenantException closed) {
      return 0; // meanwhile, or the engine has stopped
    }
  }

  private Reading read() {
    Reading known = last;
    long now = shared.clock.getAsLong();
    if (known != null && now - known.nanoTime < FRESH) {
      return known;
    }
    Reading read =
        new Reading(
            shared,
            shared.database().statistics(),
            shared.database().waitStatistics(),
            bytes(shared.database().directory()),
            now);
    last = read;
    return read;
  }

  /** A file that is deleted meanwhile has no bytes. */
  private static long bytes(Path path) {
    try {
      if (!Files.isDirectory(path)) {
        return Files.size(path);
      }
      try (Stream<Path> files = Files.list(path)) {
        return files.mapToLong(DatabaseMetrics::bytes).sum();
      }
    } catch (IOException gone) {
      return 0;
    }
  }
}
