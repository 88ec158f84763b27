package org.revenantdb.suite.crash;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Transaction;
import org.revenantdb.suite.crash.RevenantSubject.Tables;

/**
 * Pages that are allocated and freed: several sessions create tables, fill them until leaves split,
 * empty them until they merge, and write and delete large values. Meanwhile the cleaner frees, the
 * checkpointer writes and the file is compacted. After a crash the accounting of pages and extents
 * is right, before and after cleaning: no page has two owners, and no unreachable page counts as in
 * use.
 */
class AllocationSubject implements CrashSubject<Database> {
  private static final int SESSIONS = 3;
  private static final int ROUNDS = 3;

  /**
   * The number of rows of a table. About five fill a leaf, so a table has extents of its own, or
   * has lost them again.
   */
  private static final int ROWS = 90;

  /** The number of rows that are written together. */
  private static final int RUN = 30;

  private static final int LARGE_VALUES = 4;

  @Override
  public Database open(Path dir) {
    return Database.open(dir.resolve("db"), RevenantSubject.options());
  }

  @Override
  public void work(Database db, Promises promises) {
    Sessions sessions = new Sessions(db, promises);
    RandomGenerator random = promises.random();
    sessions.together(
        SESSIONS,
        AllocationSubject::comeAndGo,
        () -> {
          for (int i = 0; i < ROUNDS; i++) {
            if (random.nextBoolean()) {
              db.checkpoint();
            }
            if (random.nextInt(3) == 0) {
              db.compact();
            }
            db.cleanNow();
          }
        });
    sessions
        .worker()
        .leaveOpen(writes -> {
          writes.put(tableOf(random), Tables.key(ROWS + 1), 20_000);
          writes.put("made by who never ends", Tables.key(1), 2_000);
        });
    // This force includes records of the open transaction.
    sessions.worker().commit(writes -> writes.put(tableOf(random), Tables.key(ROWS + 2), 100));
  }

  /** Names shared by sessions, so that they split and merge each other's leaves. */
  private static String tableOf(RandomGenerator random) {
    return "table " + random.nextInt(SESSIONS + 2);
  }

  private static void comeAndGo(Worker worker, RandomGenerator random) {
    for (int i = 0; i < 3 * ROUNDS; i++) {
      String table = tableOf(random);
      switch (random.nextInt(6)) {
        case 0 -> worker.rollBack(writes -> fill(writes, table, random));
        case 1 -> worker.commit(writes -> empty(writes, table, random));
        case 2, 3 -> worker.commit(writes -> large(writes, table, random));
        default -> worker.commit(writes -> fill(writes, table, random));
      }
    }
  }

  private static void fill(Worker.Writes writes, String table, RandomGenerator random) {
    int first = random.nextInt(ROWS - RUN);
    for (int row = first; row < first + RUN; row++) {
      writes.put(table, Tables.key(row), 900 + random.nextInt(900));
    }
  }

  private static void empty(Worker.Writes writes, String table, RandomGenerator random) {
    int kept = random.nextInt(ROWS);
    for (int row = 0; row < ROWS; row++) {
      if (row != kept) {
        writes.delete(table, Tables.key(row));
      }
    }
  }

  private static void large(Worker.Writes writes, String table, RandomGenerator random) {
    byte[] key = Tables.key(ROWS + 10 + random.nextInt(LARGE_VALUES));
    writes.delete(table, key);
    if (random.nextInt(3) > 0) {
      writes.put(table, key, 5_000 + random.nextInt(60_000));
    }
  }

  /** A few of each, so that pages freed by the cleaner are allocated again. */
  @Override
  public void resume(Database db, Promises promises) {
    comeAndGo(new Worker(db, promises, promises.seed(), /* number= */ 99), promises.random());
    db.cleanNow();
    for (String problem : db.check().problems()) {
      throw new IllegalStateException("after new work: " + problem);
    }
  }

  @Override
  public void check(Database db, Recovered recovered) {
    demandSound(db.check(), "as the crash left it: ", recovered);
    db.cleanNow();
    CheckReport cleaned = db.check();
    demandSound(cleaned, "cleaned: ", recovered);
    recovered.demand(cleaned.pagesToClean() == 0, "the cleaner has left something: " + cleaned);
    List<Map.Entry<byte[], byte[]>> rows = new ArrayList<>();
    try (Transaction tx = db.begin()) {
      for (String name : db.tableNames()) {
        try (Cursor cursor = tx.scan(db.table(name), null, null)) {
          while (cursor.next()) {
            rows.add(Map.entry(Cell.key(name, cursor.key()), Cell.promised(cursor.value())));
          }
        }
      }
    }
    recovered.verifyAllBytes(rows);
  }

  private static void demandSound(CheckReport report, String when, Recovered recovered) {
    for (String problem : report.problems()) {
      recovered.demand(false, when + problem);
    }
  }
}
