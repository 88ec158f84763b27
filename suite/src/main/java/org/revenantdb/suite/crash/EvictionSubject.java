package org.revenantdb.suite.crash;

import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/**
 * More pages than the pool has frames: pages are evicted and read again, including pages of open
 * transactions.
 */
public final class EvictionSubject extends RevenantSubject {

  private static final String BULK = "bulk";

  /** Rows that need a quarter more than the 256 pages of the pool. */
  private static final int ROWS = 960;

  /** Short enough to be in the row's page. */
  private static final int LENGTH = 1_200;

  /** Creates the subject. */
  public EvictionSubject() {}

  @Override
  public void work(Database db, Promises promises) {
    Sessions sessions = new Sessions(db, promises);
    Worker main = sessions.worker();
    for (int first = 0; first < ROWS; first += 50) {
      int from = first;
      main.commit(writes -> {
        for (int row = from; row < from + 50; row++) {
          writes.put(BULK, Tables.key(row), LENGTH);
        }
      });
    }
    sessions.together(2, EvictionSubject::scattered, db::checkpoint);
    main.leaveOpen(writes -> {
      for (int row = 0; row < ROWS; row += 7) {
        writes.put(BULK, Tables.key(row), LENGTH);
      }
    });
    main.commit(writes -> writes.put(Tables.HOT, Tables.key(1), 40));
  }

  private static void scattered(Worker worker, RandomGenerator random) {
    for (int i = 0; i < 40; i++) {
      int row = random.nextInt(ROWS);
      if (i % 4 == 0) {
        worker.rollBack(writes -> writes.put(BULK, Tables.key(row), LENGTH));
      } else {
        worker.commit(writes -> {
          writes.put(BULK, Tables.key(row), LENGTH);
          writes.delete(BULK, Tables.key((row + ROWS / 2) % ROWS));
        });
      }
    }
  }
}
