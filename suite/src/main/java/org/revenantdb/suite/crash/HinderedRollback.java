package org.revenantdb.suite.crash;

import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.WIDE;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.DiskSpace;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.suite.crash.RevenantSubject.Tables;

/**
 * A disk that is full, or cannot be read, when a transaction is rolled back. The rollback succeeds,
 * or fails with a clear reason and can be repeated. Readers see committed data. A kill then loses
 * nothing, and afterwards the database works again (R25).
 */
final class HinderedRollback {

  /** The kinds of rollback. */
  enum Kind {
    /** A few rows are restored. */
    SHORT,
    /** The rows of a long transaction are left to the cleaner. */
    LONG,
    /** Rows become longer again. */
    TO_A_SAVEPOINT,
    /** A prepared transaction is rolled back by its name. */
    PREPARED,
    /** The cleaner rolls back, drops and frees. */
    CLEANING,
    /** A few rows cannot be restored, because their pages cannot be read. */
    UNREADABLE
  }

  private static final byte[] NAME = "one".getBytes(StandardCharsets.US_ASCII);
  private static final int ROWS = 48;
  private static final int LONG = 900;
  private static final int LARGES = 6;
  private static final int MOST_COMMITS = 2_000;
  private static final int MOST_BESIDE = 40;

  private final Kind kind;
  private final long seed;
  private final DiskSpace space = new DiskSpace(Long.MAX_VALUE / 2);
  private final AtomicBoolean isUnreadable = new AtomicBoolean();
  private final AtomicInteger unread = new AtomicInteger();
  private final PromiseLog promises = new PromiseLog();

  HinderedRollback(Kind kind, long seed) {
    this.kind = kind;
    this.seed = seed;
  }

  /** Runs one life. Returns a complaint, or an empty text. */
  String live() throws IOException {
    Path directory =
        Files.createDirectory(MemoryFileSystem.of(new DiskImage()).root().resolve("db"));
    RecordingFileSystem disk =
        RecordingFileSystem.over(directory).keepTrace(false).faults(this::fault).start();
    RevenantSubject subject = new MixedSubject();
    String where = kind + " (seed " + seed + "): ";
    try (Database db = subject.open(disk.directory())) {
      Worker worker = new Worker(db, promises.promises(disk.clock(), seed), seed, 0);
      setUp(worker);
      List<byte[]> rows = rows(db);
      Transaction tx = db.begin();
      @Nullable Savepoint savepoint = write(db, tx);
      if (kind == Kind.UNREADABLE) {
        evict(db, worker);
      } else {
        space.fill();
        if (!fill(worker)) {
          return where + "it was never full";
        }
      }
      boolean refused = !rollsBack(db, tx, savepoint);
      if (kind == Kind.UNREADABLE && unread.get() == 0) {
        return where + "all its pages were in memory";
      }
      db.sync(); // the log records of the rollback survive the kill
      String seen = difference(rows, rows(db));
      StateResult left = check(directory, disk.clock().next());
      space.free();
      if (savepoint != null && !refused) {
        return where + "there was room for rows that got longer";
      }
      if (savepoint != null) {
        tx.rollbackTo(savepoint);
      }
      if (savepoint != null) {
        seen += ofSavepoint(db, tx);
        tx.rollback();
      }
      subject.resume(db, promises.promises(disk.clock(), seed + 1));
      db.cleanNow();
      CheckReport report = db.check();
      if (!seen.isEmpty()) {
        return where + seen;
      }
      if (!left.survived()) {
        return where + "killed during the rollback: " + left;
      }
      if (!report.isSound() || report.pagesToClean() != 0) {
        return where + "cleaned when it was over: " + report;
      }
    } catch (RuntimeException failure) {
      return where + "failed with " + failure;
    }
    StateResult back = check(directory, disk.clock().next());
    return back.survived() ? "" : where + "when it was over: " + back;
  }

  private Fault fault(FileOperation operation) {
    if (isUnreadable.get()
        && operation.kind() == FileOperation.Kind.READ
        && operation.path().endsWith("revenant.data")) {
      unread.incrementAndGet();
      return new Fault.Fail("Input/output error");
    }
    return space.before(operation);
  }

  private static void setUp(Worker worker) {
    worker.commit(writes -> {
      for (int row = 0; row < ROWS; row++) {
        writes.put(HOT, Tables.key(row), LONG);
      }
      for (int row = 0; row < LARGES; row++) {
        writes.put(LARGE, Tables.key(row), 3_000 + 9_000 * row);
      }
    });
  }

  /** The work of the transaction, up to the moment at which the disk is full. */
  private @Nullable Savepoint write(Database db, Transaction tx) {
    Table hot = db.table(HOT);
    Table large = db.table(LARGE);
    @Nullable Savepoint savepoint = null;
    switch (kind) {
      case SHORT, UNREADABLE -> {
        tx.put(hot, Tables.key(0), new byte[9]);
        tx.delete(hot, Tables.key(1));
        tx.put(large, Tables.key(0), new byte[40_000]);
        tx.delete(large, Tables.key(1));
      }
      case LONG, PREPARED, CLEANING -> {
        for (int row = 0; row < ROWS; row++) {
          tx.put(hot, Tables.key(row), new byte[row]);
          tx.put(hot, Tables.key(1_000 + row), new byte[LONG]);
        }
        for (int row = 0; row < LARGES; row++) {
          tx.put(large, Tables.key(row), new byte[5_000]);
        }
      }
      case TO_A_SAVEPOINT -> {
        for (int row = 0; row < ROWS; row++) {
          tx.put(hot, Tables.key(2_000 + row), atSavepoint(row));
        }
        savepoint = tx.savepoint();
        for (int row = 0; row < ROWS; row++) {
          tx.put(hot, Tables.key(row), new byte[row]);
          tx.put(hot, Tables.key(2_000 + row), new byte[3]);
        }
        tx.delete(large, Tables.key(2));
      }
    }
    if (kind == Kind.PREPARED) {
      tx.prepare(NAME);
    } else if (kind == Kind.CLEANING) {
      tx.rollback();
    }
    return savepoint;
  }

  private static byte[] atSavepoint(int row) {
    return Cell.value(row, LONG);
  }

  /**
   * Other transactions write until the disk is full, then between the transaction's rows until
   * those pages are full, too.
   */
  private static boolean fill(Worker worker) {
    int commits = 0;
    while (commits < MOST_COMMITS && hasRoom(worker, WIDE, Tables.key(commits), LONG)) {
      commits++;
    }
    for (int row = 0; row < ROWS; row++) {
      int number = 0;
      while (number < MOST_BESIDE && hasRoom(worker, HOT, beside(2_000 + row, number), 150)) {
        number++;
      }
    }
    return commits < MOST_COMMITS;
  }

  private static boolean hasRoom(Worker worker, String table, byte[] key, int length) {
    try {
      worker.commitLazily(writes -> writes.put(table, key, length));
      return true;
    } catch (StorageException full) {
      demandDiskFull(full);
      return false;
    }
  }

  private static void demandDiskFull(StorageException refused) {
    if (refused.reason() != StorageException.Reason.DISK_FULL) {
      throw refused;
    }
  }

  /** Other transactions use more pages than there are frames, repeatedly. */
  private static void evict(Database db, Worker worker) {
    for (int part = 0; part < 20; part++) {
      int from = part * 150;
      worker.commit(writes -> {
        for (int row = from; row < from + 150; row++) {
          writes.put(WIDE, Tables.key(row), LONG);
        }
      });
    }
    db.checkpoint();
    try (Transaction tx = db.begin()) {
      Table wide = db.table(WIDE);
      for (int i = 0; i < 4 * 3_000; i++) {
        tx.get(wide, Tables.key(i % 3_000));
      }
    }
  }

  private static byte[] beside(int row, int number) {
    byte[] key = Tables.key(row);
    byte[] longer = Arrays.copyOf(key, key.length + Integer.BYTES);
    for (int i = 0; i < Integer.BYTES; i++) {
      longer[key.length + i] = (byte) (number >>> (8 * i));
    }
    return longer;
  }

  /**
   * Returns false if it was refused for want of space, which only a rollback that can be repeated
   * may be.
   */
  private boolean rollsBack(Database db, Transaction tx, @Nullable Savepoint savepoint) {
    switch (kind) {
      case SHORT, LONG -> tx.rollback();
      case UNREADABLE -> {
        isUnreadable.set(true);
        tx.rollback();
        isUnreadable.set(false);
      }
      case PREPARED -> {
        if (!db.rollbackPrepared(NAME)) {
          throw new IllegalStateException("it was prepared, and is not");
        }
      }
      case TO_A_SAVEPOINT -> {
        try {
          tx.rollbackTo(Objects.requireNonNull(savepoint));
        } catch (StorageException told) {
          demandDiskFull(told);
          return false;
        }
      }
      case CLEANING -> {
        try {
          db.cleanNow();
        } catch (StorageException told) {
          demandDiskFull(told);
          return false;
        }
      }
    }
    return true;
  }

  /** The rows that the transaction has changed, as other transactions see them. */
  private static List<byte[]> rows(Database db) {
    List<byte[]> rows = new ArrayList<>();
    try (Transaction tx = db.begin()) {
      for (int row = 0; row < ROWS; row++) {
        rows.add(orNothing(tx.get(db.table(HOT), Tables.key(row))));
        rows.add(orNothing(tx.get(db.table(HOT), Tables.key(1_000 + row))));
      }
      for (int row = 0; row < LARGES; row++) {
        rows.add(orNothing(tx.get(db.table(LARGE), Tables.key(row))));
      }
    }
    return rows;
  }

  private static byte[] orNothing(byte @Nullable [] value) {
    return value == null ? new byte[0] : value;
  }

  private static String difference(List<byte[]> rows, List<byte[]> found) {
    for (int i = 0; i < rows.size(); i++) {
      if (!Arrays.equals(rows.get(i), found.get(i))) {
        return "a reader sees another version of row " + i;
      }
    }
    return "";
  }

  private static String ofSavepoint(Database db, Transaction tx) {
    for (int row = 0; row < ROWS; row++) {
      if (!Arrays.equals(atSavepoint(row), tx.get(db.table(HOT), Tables.key(2_000 + row)))) {
        return "row " + row + " is not what it was at the savepoint";
      }
    }
    return "";
  }

  private StateResult check(Path directory, long seq) throws IOException {
    return new StateChecker<Database>(MixedSubject::new, /* resume= */ true)
        .check(DiskImage.of(directory), promises, seq);
  }
}
