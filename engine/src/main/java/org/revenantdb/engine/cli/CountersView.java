package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.counters.CounterOrder;
import org.revenantdb.engine.counters.StoredCounters;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.DatabaseLockedException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/**
 * Shows the content of the counters file of a database, and whether it is still current.
 *
 * <p>It is current while a process has the database open that is also the writer of the file, in
 * the life of the database that the control slots name. Process ids alone would not do, since a
 * process that is killed and restarted may have the same id. Lives alone would not do either, while
 * a database is being recovered.
 */
final class CountersView {
  private final PrintWriter out;
  private final Path directory;

  CountersView(PrintWriter out, Path directory) {
    this.out = out;
    this.directory = directory;
  }

  /**
   * The counters of the process that has the database open.
   *
   * @param before a former reading; null if there is none
   * @throws FileException if no process has the database open, if the process is another one than
   *     before, or if it writes no counters
   */
  StoredCounters current(@Nullable StoredCounters before) {
    try (DatabaseDirectory closed = DatabaseDirectory.open(directory)) {
      throw new FileException(
          closed.dataFile(),
          FileException.NO_OFFSET,
          "no process has the database open",
          "top needs an open database; use stat for this one",
          null);
    } catch (DatabaseLockedException open) {
      StoredCounters stored = stored(open).counters();
      if (before != null && (stored.life() != before.life() || stored.pid() != before.pid())) {
        throw new DatabaseLockedException(
            open.file(),
            open.reason() + ", and it is not the process that top was watching",
            "start top again",
            open.holderPid(),
            open);
      }
      return stored;
    }
  }

  /** Counters of a database that is open, and its life according to the control slots. */
  private record Stored(StoredCounters counters, int life) {}

  private Stored stored(DatabaseLockedException open) {
    byte[] id;
    int life;
    // The header never changes, and one of the slots is whole at any time.
    try (StorageFile data =
        StorageFile.open(
            directory.resolve("revenant.data"), OpenMode.READ, /* ownerOnly= */ true)) {
      id = DataFileHeader.read(data).databaseId();
      life = ControlFile.read(data).state().life();
    }
    @Nullable StoredCounters stored = StoredCounters.read(directory, id);
    if (stored == null) {
      throw new DatabaseLockedException(
          open.file(),
          open.reason() + ", and it has no counters file to show",
          "if it was opened within the last second, try again; else close it there first, or open it there with a"
              + " counters file",
          open.holderPid(),
          open);
    }
    return new Stored(stored, life);
  }

  /**
   * Shows the counters of a database that a process has open.
   *
   * @throws DatabaseLockedException if there is nothing to show
   * @throws FileException if the file is not a valid counters file
   */
  void ofOpenDatabase(DatabaseLockedException open) {
    Stored found = stored(open);
    StoredCounters stored = found.counters();
    out.println("database    " + directory);
    out.println("open        " + open.reason());
    boolean current =
        stored.life() == found.life() && (open.holderPid() < 0 || open.holderPid() == stored.pid());
    out.println(
        "counters    "
            + (current
                ? "written %s; the process writes them once a second while they change"
                    .formatted(age(stored))
                : "STALE: written %s by process %d, which did not close the database; the process that has it open now has written no counters yet"
                    .formatted(age(stored), stored.pid())));
    show(stored);
  }

  /**
   * Shows the counters of a database that no process has open. There is a file only if a process
   * was killed.
   */
  void leftBehind(byte[] databaseId) {
    try {
      @Nullable StoredCounters stored = StoredCounters.read(directory, databaseId);
      if (stored != null) {
        out.println();
        out.println(
            "counters    STALE: written %s by process %d, which did not close the database"
                .formatted(age(stored), stored.pid()));
        show(stored);
      }
    } catch (FileException unusable) {
      out.println();
      out.println("counters    none: " + unusable.getMessage());
    }
  }

  private void show(StoredCounters stored) {
    out.println("as of       " + stored.written());
    out.println("opened      " + stored.opened());
    out.println("life        " + Integer.toUnsignedString(stored.life()));
    StoredCounters.@Nullable RestartNumbers restart = stored.restart();
    if (restart != null) {
      out.println("restart     " + inWords(restart));
      return;
    }
    showCounters(stored);
    showOldestSnapshot(stored);
    out.println();
    out.printf(
        Locale.ROOT,
        "%-32s %12s %14s %14s %14s%n",
        "waits",
        "count",
        "total us",
        "avg us",
        "max us");
    List<StoredCounters.Times> waits = stored.waits();
    WaitClass[] classes = WaitClass.values();
    for (int i = 0; i < waits.size(); i++) {
      StoredCounters.Times times = waits.get(i);
      double average = times.count() == 0 ? 0 : (double) times.totalNanos() / times.count();
      out.printf(
          Locale.ROOT,
          "%-32s %12d %14.1f %14.1f %14.1f%n",
          i < classes.length ? classes[i].text() : "class " + i,
          times.count(),
          times.totalNanos() / 1e3,
          average / 1e3,
          times.maxNanos() / 1e3);
    }
  }

  /** Sorts by group, because later versions may add a counter at the end of the table. */
  private void showCounters(StoredCounters stored) {
    List<Statistic> known = CounterOrder.statistics();
    List<Long> counters = stored.counters();
    for (Statistic.Group group : Statistic.Group.values()) {
      out.println();
      for (int i = 0; i < Math.min(known.size(), counters.size()); i++) {
        Statistic one = known.get(i);
        if (one.group() == group) {
          out.printf(
              Locale.ROOT,
              "%-38s %20d  %s, %s%n",
              one.text(),
              counters.get(i),
              one.kind().text(),
              one.unit().text());
        }
      }
    }
    for (int i = known.size(); i < counters.size(); i++) {
      out.printf(Locale.ROOT, "%-38s %20d%n", "counter " + i, counters.get(i));
    }
  }

  /** Shows the oldest snapshot, and the older versions that all snapshots hold back. */
  private void showOldestSnapshot(StoredCounters stored) {
    long since = valueOf(stored, Statistic.VERSIONS_OLDEST_SNAPSHOT_SINCE);
    if (since == 0) {
      return;
    }
    long lsn = valueOf(stored, Statistic.VERSIONS_OLDEST_SNAPSHOT_LSN);
    long id = valueOf(stored, Statistic.VERSIONS_OLDEST_SNAPSHOT_TRANSACTION_ID);
    out.println();
    out.printf(
        Locale.ROOT,
        "oldest snapshot: seen first %s, of %s, %,d bytes of log behind the end%n",
        age(Duration.between(Instant.ofEpochMilli(since), Instant.now())),
        who(id, stored.oldestSnapshotName()),
        valueOf(stored, Statistic.FILES_LOG_TAIL) - lsn);
    long versions = valueOf(stored, Statistic.VERSIONS_OLDEST_SNAPSHOT_VERSIONS);
    if (versions > 0) {
      out.printf(
          Locale.ROOT,
          "held back by it alone: %,d older versions in memory, when the cleaner last counted%n",
          versions);
    }
    out.printf(
        Locale.ROOT,
        "held back by all open snapshots (%,d): older versions, %,d bytes in memory and %,d in files; pages with"
            + " versions or deleted rows, %,d%n",
        valueOf(stored, Statistic.VERSIONS_SNAPSHOTS),
        valueOf(stored, Statistic.VERSIONS_MEMORY_BYTES),
        valueOf(stored, Statistic.VERSIONS_RUN_BYTES),
        valueOf(stored, Statistic.CLEANING_PAGES_MARKED)
            + valueOf(stored, Statistic.CLEANING_PAGES_FOR_LATER)
            + valueOf(stored, Statistic.CLEANING_PAGES_POSTPONED));
  }

  private static String who(long id, String name) {
    String called = name.isEmpty() ? "" : " \"" + name + "\"";
    return id == 0
        ? (called.isEmpty() ? "a transaction" : "transaction" + called) + " that has not written"
        : "transaction " + id + called;
  }

  /** The value of a statistic; 0 if the file does not have it. */
  private static long valueOf(StoredCounters stored, Statistic statistic) {
    int place = CounterOrder.statistics().indexOf(statistic);
    return place < stored.counters().size() ? stored.counters().get(place) : 0;
  }

  /** The progress of a restart, for a database that is not open yet and has counted nothing. */
  private static String inWords(StoredCounters.RestartNumbers restart) {
    String phase = RestartPhase.textOf(restart.phase());
    String total =
        restart.total() == 0
            ? ""
            : " of %,d (%d %%)".formatted(restart.total(), 100 * restart.done() / restart.total());
    return "%s: %,d%s bytes of log".formatted(phase, restart.done(), total);
  }

  private static String age(StoredCounters stored) {
    return age(Duration.between(stored.written(), Instant.now()));
  }

  /** The age in the largest suitable unit. */
  static String age(Duration age) {
    if (age.isNegative()) {
      return "in the future, by this machine's clock";
    }
    if (age.toMinutes() < 2) {
      return String.format(Locale.ROOT, "%.1f s ago", age.toMillis() / 1e3);
    }
    if (age.toHours() < 2) {
      return age.toMinutes() + " min ago";
    }
    return age.toDays() < 2 ? age.toHours() + " h ago" : age.toDays() + " days ago";
  }
}
