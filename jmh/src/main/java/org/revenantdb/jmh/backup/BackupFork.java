package org.revenantdb.jmh.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM that copies a database: closed, with the calls of a file system; open, with a backup; with
 * increments after 1 % of its pages has changed; and with backups one after the other beside
 * sessions that commit durable updates.
 *
 * <p>Arguments: directory, rows, milliseconds of a window, number of pairs of windows, seed.
 */
public final class BackupFork {
  private static final int SESSIONS = 4;
  private static final int VALUE = 200;
  private static final long LIMIT = 50_000_000;
  private static final int PAGE = 8_192;

  /** More rows than a page has, so that two rows with this distance are on two pages. */
  private static final int ROWS_OF_A_PAGE = 40;

  private BackupFork() {}

  /**
   * Prints {@code = backup_vs_cp} and so on.
   *
   * @param arguments see the class
   * @throws Exception whatever goes wrong
   */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Path directory = folder.resolve("database");
    int rows = Integer.parseInt(arguments[1]);
    long window = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[2]));
    int pairs = Integer.parseInt(arguments[3]);
    long seed = Long.parseLong(arguments[4]);
    load(directory, rows);
    double copied = copies(directory, folder.resolve("cp"), pairs);
    Told.tell("cp_mb_per_second", copied);
    try (Database db = Database.open(directory)) {
      double backup = backups(db, folder.resolve("idle"), pairs);
      Told.tell("backup_mb_per_second", backup);
      Told.tell("backup_vs_cp", backup / copied);
      Told.tell("incremental_bytes_ratio", incremental(db, folder.resolve("increments"), rows));
      Path target = folder.resolve("beside");
      Told.tell(
          "backup_write_ratio",
          ratio(db, target, BackupOptions.defaults(), rows, window, pairs, seed));
      Told.tell(
          "backup_write_ratio_limited",
          ratio(
              db,
              target,
              BackupOptions.defaults().withBytesPerSecond(LIMIT),
              rows,
              window,
              pairs,
              seed + 1));
    }
  }

  private static void load(Path directory, int rows) {
    try (Database db = Database.open(directory)) {
      load(db, rows);
    }
  }

  static void load(Database db, int rows) {
    Table table = db.createTable("rows");
    for (int from = 0; from < rows; from += 1_000) {
      int first = from;
      db.run(tx -> {
        for (int i = first; i < Math.min(rows, first + 1_000); i++) {
          tx.put(table, key(i), new byte[VALUE]);
        }
      });
    }
  }

  private static byte[] key(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  /** Each file is forced, as a backup forces its own. */
  private static double copies(Path from, Path to, int times) throws IOException {
    double best = 0;
    for (int i = 0; i < times; i++) {
      long begun = System.nanoTime();
      long bytes = 0;
      try (Stream<Path> files = Files.walk(from)) {
        for (Path file : files.toList()) {
          Path copy = to.resolve(from.relativize(file).toString());
          Files.copy(file, copy);
          if (Files.isRegularFile(copy)) {
            try (FileChannel opened = FileChannel.open(copy, StandardOpenOption.WRITE)) {
              opened.force(true);
            }
            bytes += Files.size(copy);
          }
        }
      }
      best = Math.max(best, megabytes(bytes, System.nanoTime() - begun));
      delete(to);
    }
    return best;
  }

  /** The first one is told by itself: it warms up the code, which that of cp never needs. */
  private static double backups(Database db, Path to, int times) throws IOException {
    Told.tell("first_backup_mb_per_second", backup(db, to));
    double best = 0;
    for (int i = 0; i < times; i++) {
      best = Math.max(best, backup(db, to));
    }
    return best;
  }

  private static double backup(Database db, Path to) throws IOException {
    BackupReport report = db.backup(to);
    delete(to);
    return megabytes(report.bytes(), report.nanos());
  }

  /** Bytes of an increment for each byte of the pages that have changed: one page in a hundred. */
  private static double incremental(Database db, Path to, int rows) throws IOException {
    Table table = db.table("rows");
    db.cleanNow();
    db.checkpoint();
    String whole = db.backup(to.resolve("whole")).id();
    long changed = 0;
    for (int row = 0; row < rows; row += 100 * ROWS_OF_A_PAGE) {
      byte[] key = key(row);
      byte[] value = new byte[VALUE];
      value[0] = 1;
      db.run(tx -> tx.put(table, key, value));
      changed += PAGE;
    }
    db.checkpoint(); // else the log would do, which has far less than the pages
    Path increment = to.resolve("increment");
    BackupReport report = db.backup(increment, BackupOptions.defaults().withSince(whole));
    Told.tell("incremental_pages_read", (double) report.pagesRead());
    Told.tell("incremental_pages_copied", (double) report.pagesCopied());
    double ratio = (double) Files.size(increment.resolve("revenant.increment")) / changed;
    delete(to);
    return ratio;
  }

  private static double megabytes(long bytes, long nanos) {
    return bytes * 1e3 / nanos;
  }

  /** Commits a second beside backups, divided by those without, in turn. */
  private static double ratio(
      Database db, Path target, BackupOptions options, int rows, long window, int pairs, long seed)
      throws Exception {
    LongAdder commits = new LongAdder();
    Work work = update(db, rows, SESSIONS, seed, commits);
    perSecond(commits, window); // the first window warms up
    double without = 0;
    double beside = 0;
    for (int i = 0; i < pairs; i++) {
      without += perSecond(commits, window);
      Work backups = new Work();
      backups.begin(() -> {
        db.backup(target, options.withListener(progress -> !backups.isStopped()));
        delete(target);
      });
      beside += perSecond(commits, window);
      backups.end();
      delete(target);
    }
    work.end();
    return beside / without;
  }

  /** Sessions that commit durable updates of random rows until their end. */
  static Work update(Database db, int rows, int sessions, long seed, LongAdder commits) {
    Work work = new Work();
    Table table = db.table("rows");
    for (int i = 0; i < sessions; i++) {
      Random random = new Random(seed * sessions + i);
      work.begin(() -> {
        int row = random.nextInt(rows);
        byte[] value = new byte[VALUE];
        random.nextBytes(value);
        db.run(tx -> tx.put(table, key(row), value));
        commits.increment();
      });
    }
    return work;
  }

  static double perSecond(LongAdder commits, long window) throws InterruptedException {
    long before = commits.sum();
    long begun = System.nanoTime();
    TimeUnit.NANOSECONDS.sleep(window);
    return (commits.sum() - before) * 1e9 / (System.nanoTime() - begun);
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
