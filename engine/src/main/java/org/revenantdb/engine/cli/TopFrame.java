package org.revenantdb.engine.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.counters.CounterOrder;
import org.revenantdb.engine.counters.StoredCounters;
import org.revenantdb.engine.page.Page;

/** What happens in an open database, from two readings of its counters. */
final class TopFrame {
  private static final int MOST_WAITS = 6;

  private final StoredCounters before;
  private final StoredCounters now;
  private final double seconds;
  private final List<String> lines = new ArrayList<>();

  private TopFrame(StoredCounters before, StoredCounters now) {
    this.before = before;
    this.now = now;
    seconds = Math.max(1e-3, Duration.between(before.written(), now.written()).toNanos() / 1e9);
  }

  /**
   * The lines to show.
   *
   * @param before the former reading, of the same opening of the database
   * @param now the latest reading
   * @param time the time now
   */
  static List<String> lines(StoredCounters before, StoredCounters now, Instant time) {
    TopFrame frame = new TopFrame(before, now);
    frame.show(time);
    return frame.lines;
  }

  private void show(Instant time) {
    line(
        "process %d, open since %s; counted over %.1f s, %s",
        now.pid(), now.opened(), seconds, CountersView.age(Duration.between(now.written(), time)));
    lines.add("");
    line(
        "commits     %,12.0f durable/s %,12.0f lazy/s %,12.0f forces/s",
        rate(Statistic.COMMITS_DURABLE),
        rate(Statistic.COMMITS_LAZY),
        rate(Statistic.FILES_FORCES));
    line(
        "retries     %,12.0f /s        %,12.0f gave up/s",
        rate(Statistic.RETRIES_REPEATED), rate(Statistic.RETRIES_GAVE_UP));
    line(
        "pool        %,12.1f %% hits    %,12.0f pages read/s %,9.0f written/s",
        hits(), rate(Statistic.FILES_PAGES_READ), rate(Statistic.FILES_PAGES_WRITTEN));
    line(
        "log         %,12.1f MB/s      %,12.1f MB directory %,7d checkpoints",
        rate(Statistic.FILES_LOG_TAIL) / 1e6,
        value(Statistic.FILES_LOG_DIRECTORY_BYTES) / 1e6,
        value(Statistic.FILES_CHECKPOINTS));
    line(
        "data file   %,12.1f MB        %,12.0f splits/s %,13d pages to redo",
        (double) value(Statistic.FILES_DATA_FILE_PAGES) * Page.SIZE / 1e6,
        rate(Statistic.FILES_SPLITS),
        value(Statistic.FILES_PENDING_PAGES));
    line(
        "cleaner     %,12.0f pages/s   %,12d waiting %,14d postponed",
        rate(Statistic.CLEANING_PAGES_CLEANED),
        value(Statistic.CLEANING_PAGES_TO_VISIT),
        value(Statistic.CLEANING_PAGES_POSTPONED));
    line(
        "versions    %,12.1f MB memory %,12.1f MB files %,15d snapshots",
        value(Statistic.VERSIONS_MEMORY_BYTES) / 1e6,
        value(Statistic.VERSIONS_RUN_BYTES) / 1e6,
        value(Statistic.VERSIONS_SNAPSHOTS));
    showOldest(time);
    showWaits();
  }

  private void showOldest(Instant time) {
    long since = value(Statistic.VERSIONS_OLDEST_SNAPSHOT_SINCE);
    if (since != 0) {
      String name = now.oldestSnapshotName();
      line(
          "oldest      seen first %s%s",
          CountersView.age(Duration.between(Instant.ofEpochMilli(since), time)),
          name.isEmpty() ? "" : ", \"" + name + "\"");
    }
  }

  private void showWaits() {
    WaitClass[] classes = WaitClass.values();
    int known = Math.min(classes.length, Math.min(before.waits().size(), now.waits().size()));
    List<Integer> longest =
        IntStream.range(0, known)
            .filter(i -> waited(i) > 0)
            .boxed()
            .sorted(Comparator.comparingLong(this::waited).reversed())
            .limit(MOST_WAITS)
            .toList();
    if (!longest.isEmpty()) {
      lines.add("");
      line("%-24s %14s %16s", "waits", "waits/s", "ms waited/s");
      for (int i : longest) {
        long count = now.waits().get(i).count() - before.waits().get(i).count();
        line(
            "%-24s %,14.0f %,16.1f", classes[i].text(), count / seconds, waited(i) / seconds / 1e6);
      }
    }
  }

  /** Nanoseconds that threads have waited in a class. */
  private long waited(int index) {
    return now.waits().get(index).totalNanos() - before.waits().get(index).totalNanos();
  }

  private double hits() {
    double hits = rate(Statistic.POOL_HITS);
    double misses = rate(Statistic.POOL_MISSES);
    return hits + misses == 0 ? 100 : 100 * hits / (hits + misses);
  }

  private double rate(Statistic statistic) {
    return (value(now, statistic) - value(before, statistic)) / seconds;
  }

  private long value(Statistic statistic) {
    return value(now, statistic);
  }

  private static long value(StoredCounters stored, Statistic statistic) {
    int place = CounterOrder.statistics().indexOf(statistic);
    return place >= 0 && place < stored.counters().size() ? stored.counters().get(place) : 0;
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  private void line(String format, @Nullable Object... values) {
    lines.add(String.format(Locale.ROOT, format, values));
  }
}
