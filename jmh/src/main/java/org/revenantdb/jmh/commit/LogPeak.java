package org.revenantdb.jmh.commit;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.jmh.fork.Told;

/**
 * Watches the log directory of a database and keeps its largest size, relative to the bound. It
 * looks at the files every 20 ms; a segment stays longer than that.
 */
public final class LogPeak implements AutoCloseable {
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /**
   * The pause between looks is this multiple of a look, because the measured work needs the
   * processor.
   */
  private static final int REST = 100;

  private final @Nullable Path log;
  private final double bound;
  private final CountDownLatch end = new CountDownLatch(1);
  private final Thread thread;
  private volatile long peak;

  private LogPeak(@Nullable Path log, long bound) {
    this.log = log;
    this.bound = bound;
    thread = Thread.ofPlatform().daemon().name("log-peak").unstarted(this::watch);
    if (log != null) {
      thread.start();
    }
  }

  /** For a database with the usual options; null: for none. */
  static LogPeak of(@Nullable Path database) {
    return of(database, DatabaseOptions.defaults());
  }

  /** For a database; null: for none. */
  public static LogPeak of(@Nullable Path database, DatabaseOptions options) {
    return new LogPeak(
        database == null ? null : database.resolve("log"), 2 * options.maxRecoveryLog());
  }

  /** For a log with its own bound. */
  static LogPeak ofLog(Path log, long bound) {
    return new LogPeak(log, bound);
  }

  private void watch() {
    try {
      long pause;
      do {
        long start = System.nanoTime();
        peak = Math.max(peak, size(log));
        pause = Math.max(PERIOD_NANOS, REST * (System.nanoTime() - start));
      } while (!end.await(pause, TimeUnit.NANOSECONDS));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private static long size(@Nullable Path directory) {
    long size = 0;
    if (directory == null) {
      return 0;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        size += sizeOf(file);
      }
    } catch (IOException _) {
      return size; // does not exist yet
    }
    return size;
  }

  private static long sizeOf(Path file) {
    try {
      return Files.size(file);
    } catch (IOException _) {
      return 0; // renamed or deleted meanwhile: the next look sees it under its new name
    }
  }

  /**
   * The longest of those that were looked at.
   *
   * @return its share of the bound
   */
  public double seen() {
    return peak / bound;
  }

  /** Prints the result for the parent. */
  public void tell() {
    if (log != null) {
      Told.tell("log_peak_over_bound", Math.max(peak, size(log)) / bound);
    }
  }

  @Override
  public void close() {
    end.countDown();
  }
}
