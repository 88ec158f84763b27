package org.revenantdb.suite.crash;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.recording.IoCount;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.report.RecoveryBound;
import org.revenantdb.chaos.report.RecoveryCostPoint;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Transaction;

/**
 * The cost of a restart, in bytes and operations, until the first read is answered. It does not
 * depend on the size of the transaction in flight, and is proportional to the log since the last
 * checkpoint, which has a declared limit.
 *
 * <p>Counted, not timed, on a disk in memory, so the figures are the same on every machine. What
 * threads do in the background is not counted: on a busy machine they begin before the first read.
 * Each image is opened several times for the time, which is the median.
 */
final class RecoveryCost {
  /*
   * Bound of the bytes moved with L bytes of log behind the redo point
   *   2 L           analysis reads the log once, redo before the first read at most once
   *   12 MiB        independent of L: the batch of the double-write file, read, and its pages
   *                 written; the tail that is not known to be durable, read and written to another
   *                 file (R6), at most a log buffer, in segments; the search behind the end of the
   *                 log; the first segment of the new life; pages read ahead, twice; each page that
   *                 redo has to read, once (all of this small table)
   */
  private static final int MIB = 1 << 20;
  private static final int SEGMENT = MIB;
  private static final long LIMIT = 16L * MIB;
  private static final int OPENINGS = 5;

  /** Threads for which the first read does not wait; by their names. */
  private static final Pattern BACKGROUND =
      Pattern.compile("revenant-(redo|cleaner|page-writer|reader|checkpoint)\\b.*");

  private static final String TABLE = "rows";
  private static final int ROWS = 400;
  private static final int UNIT = 128 * 1024;
  private static final int[] SIZES = {1, 10, 100};

  /** Less than half of the limit, because a checkpoint begins there. */
  private static final int[] SIXTEENTHS_OF_THE_LIMIT = {0, 2, 4, 6, 7};

  /**
   * Differences that depend on the moment, not on the size. Up to five segments were prepared ahead
   * of need (docs/format.md §2.1) and are searched behind the end of the log, like the rest of the
   * last one. The last batch of pages may have been full: 1 MiB, which is read, compared with the
   * data file, and may be written. A transaction a hundred times as large is 12 MiB more.
   */
  private static final long TOLERANCE = 5L * SEGMENT + 3L * MIB + MIB / 2;

  private static final RecoveryBound BOUND =
      new RecoveryBound("2 bytes for each byte of log, and 12 MiB", 12L * MIB, 2);

  private final List<RecoveryCostPoint> bySize = new ArrayList<>();
  private final List<RecoveryCostPoint> byLog = new ArrayList<>();
  private final List<String> complaints = new ArrayList<>();

  /** Measures everything. */
  void measure() throws IOException {
    for (int size : SIZES) {
      long bytes = (long) size * UNIT;
      Left left = new Left();
      DiskImage image = FrozenDisk.after(options(), db -> left.log = leaveInFlight(db, bytes));
      bySize.add(measured(size + "x", bytes, left.log, image));
    }
    for (int sixteenths : SIXTEENTHS_OF_THE_LIMIT) {
      long log = LIMIT * sixteenths / 16;
      Left left = new Left();
      DiskImage image = FrozenDisk.after(options(), db -> left.log = writeLog(db, log));
      byLog.add(measured(log / MIB + " MiB", 0, left.log, image));
    }
    judge();
  }

  private static DatabaseOptions options() {
    return DatabaseOptions.defaults()
        .withPoolBytes(64L * MIB)
        .withMaxRecoveryPages(1 << 20) // otherwise a checkpoint would come before there is much log
        .withLogSegmentBytes(SEGMENT)
        .withMaxRecoveryLog(LIMIT)
        .withCountersFile(false)
        .withLeakListener(forgotten -> {});
  }

  /** The amount of log that a restart reads. */
  private static final class Left {
    private long log;
  }

  private static long logOf(Database db) {
    DatabaseStatistics now = db.statistics();
    return now.files().logTail() - now.files().redoPoint();
  }

  /** A large transaction, a checkpoint, and small ones behind it; the large one never ends. */
  private static long leaveInFlight(Database db, long bytes) {
    fill(db);
    Transaction inFlight = db.begin();
    byte[] value = new byte[1_000];
    for (long written = 0; written < bytes; written += value.length) {
      inFlight.put(
          db.getOrCreateTable("in flight"), RevenantSubject.Tables.key((int) written), value);
    }
    db.checkpoint();
    update(db, 20);
    return logOf(db);
  }

  private static long writeLog(Database db, long bytes) {
    fill(db);
    db.checkpoint();
    long begin = db.statistics().files().logTail();
    for (int round = 0; db.statistics().files().logTail() - begin < bytes; round++) {
      update(db, 50 + round % 2);
    }
    return logOf(db);
  }

  private static void fill(Database db) {
    db.run(tx -> {
      for (int row = 0; row < ROWS; row++) {
        tx.put(db.getOrCreateTable(TABLE), RevenantSubject.Tables.key(row), new byte[500]);
      }
    });
  }

  private static void update(Database db, int rows) {
    db.run(tx -> {
      for (int row = 0; row < rows; row++) {
        tx.put(
            db.getOrCreateTable(TABLE), RevenantSubject.Tables.key(row * 7 % ROWS), new byte[500]);
      }
    });
  }

  private static RecoveryCostPoint measured(
      String label, long transaction, long log, DiskImage image) throws IOException {
    List<RecoveryCostPoint> openings = new ArrayList<>();
    for (int i = 0; i < OPENINGS; i++) {
      openings.add(open(label, transaction, log, image.fork()));
    }
    RecoveryCostPoint cheapest =
        openings.stream().min(Comparator.comparingLong(RecoveryCostPoint::bytes)).orElseThrow();
    return withMedianTime(cheapest, openings);
  }

  /** The counts of the cheapest opening, with the median of the times. */
  private static RecoveryCostPoint withMedianTime(
      RecoveryCostPoint cheapest, List<RecoveryCostPoint> openings) {
    double[] millis = openings.stream().mapToDouble(RecoveryCostPoint::millis).sorted().toArray();
    return new RecoveryCostPoint(
        cheapest.label(),
        cheapest.transactionBytes(),
        cheapest.logSinceCheckpoint(),
        cheapest.bytesRead(),
        cheapest.bytesWritten(),
        cheapest.operations(),
        millis[millis.length / 2]);
  }

  private static RecoveryCostPoint open(String label, long transaction, long log, DiskImage image)
      throws IOException {
    RecordingFileSystem counting =
        RecordingFileSystem.over(MemoryFileSystem.of(image).root())
            .keepTrace(false)
            .stacks(false)
            .count(thread -> !BACKGROUND.matcher(thread.getName()).matches())
            .start();
    long begun = System.nanoTime();
    try (Database db = Database.open(counting.directory(), options())) {
      byte[] found;
      try (Transaction tx = db.begin()) {
        found = tx.get(db.table(TABLE), RevenantSubject.Tables.key(0));
      }
      IoCount cost = counting.counted();
      double millis = (System.nanoTime() - begun) / 1e6;
      if (found == null) {
        throw new IllegalStateException("the row that was committed first is not there");
      }
      return new RecoveryCostPoint(
          label,
          transaction,
          log,
          cost.bytesRead(),
          cost.bytesWritten(),
          cost.reads() + cost.writes() + cost.forces() + cost.others(),
          millis);
    }
  }

  private static boolean isAbove(RecoveryCostPoint point, List<RecoveryCostPoint> others) {
    return others.stream().anyMatch(other -> point.bytes() > other.bytes() + TOLERANCE);
  }

  private void judge() {
    long cheapest = bySize.stream().mapToLong(RecoveryCostPoint::bytes).min().orElse(0);
    for (RecoveryCostPoint point : bySize) {
      if (isAbove(point, bySize)) {
        complaints.add(
            "with a transaction of %,d bytes in flight recovery moved %,d bytes, with another size %,d"
                .formatted(point.transactionBytes(), point.bytes(), cheapest));
      }
    }
    for (RecoveryCostPoint point : byLog) {
      if (!BOUND.holds(point)) {
        complaints.add(
            "with %,d bytes of log since the checkpoint recovery moved %,d bytes; %s are declared"
                .formatted(point.logSinceCheckpoint(), point.bytes(), BOUND.label()));
      }
      if (point.logSinceCheckpoint() > LIMIT) {
        complaints.add(
            "%,d bytes of log since the checkpoint; at most %,d were asked for"
                .formatted(point.logSinceCheckpoint(), LIMIT));
      }
    }
  }

  /** Recoveries with transactions of growing size in flight. */
  List<RecoveryCostPoint> bySize() {
    return List.copyOf(bySize);
  }

  /** Recoveries with growing log since the checkpoint. */
  List<RecoveryCostPoint> byLog() {
    return List.copyOf(byLog);
  }

  /** The declared bound for the second kind. */
  static RecoveryBound bound() {
    return BOUND;
  }

  /** The outcome, with everything outside its bound. */
  Outcome outcome() {
    return Outcome.of(
        "recovery cost",
        complaints.isEmpty() ? Verdict.SURVIVED : Verdict.CORRUPT,
        String.join("; ", complaints));
  }
}
