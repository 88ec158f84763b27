package org.revenantdb.suite.crash;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * Tables that are filled, dropped and created again under the same name, while their pages are
 * being freed: a table exists with all its rows, or is gone with all of them.
 */
public final class DropSubject extends RevenantSubject {

  private static final String TABLE = "dropped";
  private static final int SESSIONS = 2;
  private static final int ROUNDS = 4;
  private static final int ROWS = 90;
  private static final int LARGE_EVERY = 30;

  /** Creates the subject. */
  public DropSubject() {}

  /** Several threads clean at the same time. */
  @Override
  DatabaseOptions options(Path database) {
    return options().withCleanerThreads(3);
  }

  @Override
  public void work(Database db, Promises promises) {
    Sessions sessions = new Sessions(db, promises);
    AtomicInteger tables = new AtomicInteger();
    sessions.together(
        SESSIONS,
        (worker, random) -> rounds(db, worker, TABLE + tables.getAndIncrement(), random),
        db::checkpoint);
    Worker last = sessions.worker();
    fill(last, TABLE, promises.random());
    last.drop(TABLE);
    last.commit(writes -> writes.put(TABLE, Tables.key(0), 40));
  }

  private static void rounds(Database db, Worker worker, String table, RandomGenerator random) {
    for (int round = 0; round < ROUNDS; round++) {
      fill(worker, table, random);
      worker.rollBack(writes -> {
        writes.put(table, Tables.key(0), 12_000); // over a large value
        writes.delete(table, Tables.key(1));
      });
      worker.drop(table);
      if (random.nextBoolean()) {
        db.cleanNow();
      }
    }
    fill(worker, table, random);
  }

  private static void fill(Worker worker, String table, RandomGenerator random) {
    for (int first = 0; first < ROWS; first += LARGE_EVERY) {
      int from = first;
      worker.commit(writes -> {
        writes.put(table, Tables.key(from), 10_000 + random.nextInt(60_000));
        for (int row = from + 1; row < from + LARGE_EVERY; row++) {
          writes.put(table, Tables.key(row), 900);
        }
      });
    }
  }
}
