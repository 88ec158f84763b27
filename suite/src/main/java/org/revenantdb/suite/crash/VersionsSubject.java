package org.revenantdb.suite.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * Older versions and savepoints whose overwritten rows exceed memory (docs/protocols.md §28, §30).
 * Several snapshots are read back from files, transactions go back to savepoints from files, and a
 * life ends with all of that open. The next opening finds none of these files, and has not read
 * them.
 */
public final class VersionsSubject extends RevenantSubject {

  private static final String VERSIONED = "versioned";

  /**
   * With this many rows and the snapshots between updates, older versions need twice the memory
   * limit.
   */
  private static final int ROWS = 260;

  private static final int SNAPSHOTS = 6;

  /** Nearly as long as a value in a page can be. */
  private static final int LENGTH = 1_300;

  /** More overwritten rows than a transaction keeps in memory. */
  private static final int OVERWRITTEN = 90;

  private static final long SMALLEST_MEMORY = 1 << 20;

  /** Creates the subject. */
  public VersionsSubject() {}

  @Override
  DatabaseOptions options(Path database) {
    return options().withVersionMemory(SMALLEST_MEMORY);
  }

  @Override
  void opened(Path database) {
    try (Stream<Path> files = Files.list(database)) {
      List<Path> left = files.filter(file -> file.toString().endsWith(".spill")).toList();
      if (!left.isEmpty()) {
        throw new IllegalStateException("left over from a former life and not deleted: " + left);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A snapshot, and its expected rows. */
  private record Snapshot(Transaction tx, List<byte[]> rows) {
    static Snapshot of(Database db) {
      Transaction tx = db.begin();
      return new Snapshot(tx, read(tx, db.table(VERSIONED)));
    }

    private static List<byte[]> read(Transaction tx, Table table) {
      List<byte[]> rows = new ArrayList<>();
      for (int row = 0; row < ROWS; row++) {
        rows.add(Objects.requireNonNull(tx.get(table, Tables.key(row))));
      }
      return rows;
    }

    void look(Database db) {
      List<byte[]> again = read(tx, db.table(VERSIONED));
      for (int row = 0; row < ROWS; row++) {
        if (!Arrays.equals(rows.get(row), again.get(row))) {
          throw new IllegalStateException("a snapshot sees another version of row " + row);
        }
      }
    }
  }

  @Override
  public void work(Database db, Promises promises) {
    Worker worker = new Worker(db, promises, promises.seed(), 0);
    RandomGenerator random = promises.random();
    List<Snapshot> snapshots = new ArrayList<>();
    writeAll(worker);
    for (int i = 0; i < SNAPSHOTS; i++) {
      snapshots.add(Snapshot.of(db));
      writeAll(worker);
      snapshots.get(random.nextInt(snapshots.size())).look(db);
    }
    if (db.statistics().versions().spilled() == 0) {
      throw new IllegalStateException("no version was spilled: " + db.statistics());
    }
    savepoints(worker, Worker.Ending.ROLL_BACK);
    savepoints(worker, Worker.Ending.COMMIT);
    db.checkpoint();
    for (Snapshot snapshot : snapshots.subList(0, SNAPSHOTS / 2)) {
      snapshot.look(db);
      snapshot.tx.rollback(); // the others stay open
    }
    db.cleanNow();
    savepoints(worker, Worker.Ending.LEFT_OPEN);
    snapshots.getLast().look(db);
    worker.commit(writes -> writes.put(Tables.HOT, Tables.key(1), 40));
  }

  private static void writeAll(Worker worker) {
    for (int half = 0; half < 2; half++) {
      int from = half * ROWS / 2;
      worker.commit(writes -> {
        for (int row = from; row < from + ROWS / 2; row++) {
          writes.put(VERSIONED, Tables.key(row), LENGTH);
        }
      });
    }
  }

  /** Three savepoints, each followed by more than fits in memory; then back to two of them. */
  private static void savepoints(Worker worker, Worker.Ending ending) {
    String table = ending == Worker.Ending.LEFT_OPEN ? "undecided" : "saved";
    worker.revise(
        ending,
        tx -> {
          overwrite(tx, table, 20);
          Worker.Mark outer = tx.mark();
          overwrite(tx, table, OVERWRITTEN);
          Worker.Mark middle = tx.mark();
          overwrite(tx, table, OVERWRITTEN);
          tx.mark();
          overwrite(tx, table, OVERWRITTEN);
          tx.delete(table, Tables.key(3));
          tx.goBackTo(middle);
          overwrite(tx, table, 30);
          tx.goBackTo(outer);
          overwrite(tx, table, OVERWRITTEN);
        });
  }

  private static void overwrite(Worker.Revisions tx, String table, int times) {
    for (int i = 0; i < times; i++) {
      tx.put(table, Tables.key(i % 16), i % 16 == 7 ? 9_000 : LENGTH);
    }
  }
}
