package org.revenantdb.suite.crash;

import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT_KEYS;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE_KEYS;

import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/**
 * One session and few transactions, for runs with many lives, for instance a life for each
 * operation that fails.
 */
public final class ShortSubject extends RevenantSubject {

  private static final int ROUNDS = 3;

  /** Creates the subject. */
  public ShortSubject() {}

  @Override
  public void work(Database db, Promises promises) {
    Worker worker = new Worker(db, promises, promises.seed(), 0);
    RandomGenerator random = promises.random();
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < 5; i++) {
        worker.commit(writes -> {
          writes.put(HOT, Tables.key(random.nextInt(HOT_KEYS)), 30);
          writes.put(HOT, Tables.key(random.nextInt(HOT_KEYS)), 50);
          writes.delete(HOT, Tables.key(random.nextInt(HOT_KEYS)));
        });
      }
      worker.rollBack(writes -> writes.put(HOT, Tables.key(random.nextInt(HOT_KEYS)), 30));
      worker.commit(writes ->
          writes.put(
              LARGE, Tables.key(random.nextInt(LARGE_KEYS)), 9_000 + random.nextInt(30_000)));
      db.checkpoint();
      if (round == 1) {
        db.cleanNow();
      }
    }
    worker.commit(writes -> writes.put(HOT, Tables.key(0), 40));
  }
}
