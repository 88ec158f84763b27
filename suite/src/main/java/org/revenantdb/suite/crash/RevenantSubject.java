package org.revenantdb.suite.crash;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.Log;

/**
 * RevenantDB as a subject, with the smallest files and the shortest log that its options allow, so
 * that a short trace contains every step of the protocols.
 *
 * <p>A variant defines the work of its lives in {@link #work}. The check of a recovered database is
 * the same for all: every row of every table against the promises, point reads against the scan,
 * the structure with its accounting of pages, the report of the recovery.
 */
public abstract class RevenantSubject implements CrashSubject<Database> {

  /** The smallest pool that an option allows. */
  static final long POOL = 2L << 20;

  /** Prefix of the names of prepared transactions that are to be committed. */
  static final String COMMITTED = "committed-";

  /** Prefix of the names of the others. */
  static final String ROLLED_BACK = "rolled-back-";

  private static final String DIRECTORY = "db";
  static final int SEGMENT = 1 << 20;
  static final long LOG_LIMIT = 4L * SEGMENT;

  /** Creates the subject. */
  protected RevenantSubject() {}

  /** The options of every variant: small pool, small segments, short log. */
  static DatabaseOptions options() {
    // A life leaves a transaction open on purpose, so the warning is switched off.
    return DatabaseOptions.defaults()
        .withPoolBytes(POOL)
        .withLogSegmentBytes(SEGMENT)
        .withMaxRecoveryLog(LOG_LIMIT)
        .withShortTransactionRows(4) // rollbacks of both kinds
        .withCountersFile(false) // depends on the clock; no check uses it
        .withLeakListener(forgotten -> {});
  }

  /**
   * The database creates its own directory, because the durability of its name is a promise, too.
   */
  @Override
  public final Database open(Path dir) {
    Path database = dir.resolve(DIRECTORY);
    Database db = Database.open(database, options(database));
    try {
      opened(database);
    } catch (RuntimeException failure) {
      db.close();
      throw failure;
    }
    return db;
  }

  /** A variant's conditions on the files of a database that was just opened. */
  void opened(Path database) {}

  /** The options of the variant. */
  DatabaseOptions options(Path database) {
    return options();
  }

  @Override
  public final void check(Database db, Recovered recovered) {
    demandSaneReport(db.recoveryReport(), recovered);
    // First, because it reads every page without passing work to another thread.
    CheckReport report = db.check();
    refuseIfDamaged(report);
    for (String problem : report.problems()) {
      recovered.demand(false, problem);
    }
    for (byte[] name : db.preparedTransactions()) {
      decide(db, new String(name, StandardCharsets.UTF_8));
    }
    try (Transaction tx = db.begin()) {
      List<Map.Entry<byte[], byte[]>> rows = new ArrayList<>();
      for (String name : db.tableNames()) {
        walk(tx, db.table(name), rows, recovered);
      }
      checkMore(db, report, recovered, rows);
      recovered.verifyAllBytes(rows);
    }
  }

  /** The ring of the log outlives the process (protocols.md §46). */
  @Override
  public final boolean keepsLazyWhenKilled() {
    return true;
  }

  static boolean isCommitted(String prepared) {
    return prepared.startsWith(COMMITTED);
  }

  /** Gives a prepared transaction the outcome in its name. */
  static void decide(Database db, String prepared) {
    byte[] name = prepared.getBytes(StandardCharsets.UTF_8);
    boolean was = isCommitted(prepared) ? db.commitPrepared(name) : db.rollbackPrepared(name);
    if (!was) {
      throw new IllegalStateException(prepared + " was prepared, and is not");
    }
  }

  /**
   * Checks further conditions of a variant.
   *
   * @param report of the structure
   * @param rows all rows; the method may add what its promises treat as rows, too
   */
  void checkMore(
      Database db, CheckReport report, Recovered recovered, List<Map.Entry<byte[], byte[]>> rows) {}

  /** Scans one table; each row is also read by its key. */
  private static void walk(
      Transaction tx, Table table, List<Map.Entry<byte[], byte[]>> rows, Recovered recovered) {
    byte[] before = {};
    try (Cursor cursor = tx.scan(table, null, null)) {
      while (cursor.next()) {
        byte[] key = cursor.key();
        byte[] value = cursor.value();
        recovered.demand(
            Arrays.compareUnsigned(before, key) < 0, "a scan over " + table + " goes back");
        boolean same =
            value.length <= Cell.WHOLE
                ? Arrays.equals(value, tx.get(table, key))
                : tx.exists(table, key);
        recovered.demand(same, "a scan over " + table + " shows a row that a read does not");
        before = key;
        rows.add(Map.entry(Cell.key(table.name(), key), Cell.promised(value)));
      }
    }
  }

  /**
   * Pages that cannot be read, and nothing else: a clear report of damage, as for a reader of them.
   */
  private static void refuseIfDamaged(CheckReport report) {
    if (!report.damage().isEmpty() && report.damage().size() == report.problems().size()) {
      throw report.damage().getFirst();
    }
  }

  private static void demandSaneReport(RecoveryReport report, Recovered recovered) {
    recovered.demand(
        report.nanos() >= report.analysisNanos() && report.analysisNanos() >= 0,
        "the recovery took a negative time: " + report);
    // A crash while pages are pending leaves the log of both lives. Up to five segments that were
    // prepared ahead of need (docs/format.md §2.1) are searched for more of it.
    recovered.demand(
        report.logBytesRead() <= 2 * (LOG_LIMIT + SEGMENT) + 5L * SEGMENT,
        "the recovery read more log than maxRecoveryLog allows: " + report);
    recovered.demand(
        !report.clean() || report.transactionsAborted() == 0,
        "closed cleanly, with transactions left undecided: " + report);
  }

  /** A little new work of every kind; then, sometimes, everything left over is cleaned. */
  @Override
  public final void resume(Database db, Promises promises) {
    RandomGenerator random = promises.random();
    Worker worker = new Worker(db, promises, promises.seed(), /* number= */ 99);
    worker.commit(writes -> {
      writes.put(Tables.HOT, Tables.key(random.nextInt(Tables.HOT_KEYS)), 40);
      writes.delete(Tables.HOT, Tables.key(random.nextInt(Tables.HOT_KEYS)));
      writes.put(Tables.LARGE, Tables.key(random.nextInt(Tables.LARGE_KEYS)), 12_000);
    });
    worker.rollBack(writes -> writes.put(Tables.HOT, Tables.key(1), 40));
    resumeMore(db, promises, random);
    if (random.nextBoolean()) {
      db.checkpoint();
    }
    if (random.nextInt(3) == 0) {
      db.cleanNow();
      CheckReport report = db.check();
      refuseIfDamaged(report);
      if (!report.isSound() || report.pagesToClean() != 0) {
        throw new IllegalStateException("after cleaning: " + report);
      }
    }
  }

  /** New work of a variant's own kind. */
  void resumeMore(Database db, Promises promises, RandomGenerator random) {}

  @Override
  public final String kindOf(String path) {
    return path.startsWith(DIRECTORY) ? kindInside(path.substring(DIRECTORY.length())) : "above";
  }

  private static String kindInside(String rest) {
    String path = rest.startsWith("/") ? rest.substring(1) : rest;
    return switch (path) {
      case "" -> "directory";
      case "log" -> "log directory";
      case "revenant.data" -> "data";
      case "revenant.data.new" -> "new data";
      case "revenant.dw" -> "double-write";
      case "revenant.lock" -> "lock";
      case "revenant.ring", "revenant.ring.new" -> "ring";
      default -> {
        if (!path.startsWith("log/")) {
          yield path.endsWith(".spill") ? "spill" : path;
        }
        yield path.endsWith(".tmp") ? "new log" : "log";
      }
    };
  }

  @Override
  public final List<String> seam() {
    return List.of(StorageFile.class.getName(), Directories.class.getName());
  }

  @Override
  public final List<Class<?>> code() {
    return List.of(Log.class, Database.class);
  }

  /** Whether the exception, or the reason in it, contains a file. */
  @Override
  public final boolean refuses(Throwable failure) {
    for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof FileException) {
        return true;
      }
    }
    return false;
  }

  /** The tables of the lives. */
  static final class Tables {

    /** Short rows that many sessions write at once. */
    static final String HOT = "hot";

    static final int HOT_KEYS = 96;

    /** Rows of which a few fill a page, so that pages split and merge. */
    static final String WIDE = "wide";

    /** Values in pages of their own. */
    static final String LARGE = "large";

    static final int LARGE_KEYS = 10;

    private Tables() {}

    static byte[] key(int number) {
      return "%05d".formatted(number).getBytes(StandardCharsets.US_ASCII);
    }
  }
}
