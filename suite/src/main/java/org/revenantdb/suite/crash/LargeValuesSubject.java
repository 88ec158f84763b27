package org.revenantdb.suite.crash;

import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE_KEYS;

import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * Large values, overwritten repeatedly: the log goes through several segments, which are recycled,
 * and pages of former values are freed and used again.
 */
public final class LargeValuesSubject extends RevenantSubject {

  private static final int ROUNDS = 8;

  /** Creates the subject. */
  public LargeValuesSubject() {}

  /** Several threads clean at the same time. */
  @Override
  DatabaseOptions options(Path database) {
    return options().withCleanerThreads(3);
  }

  @Override
  public void work(Database db, Promises promises) {
    Sessions sessions = new Sessions(db, promises);
    for (int round = 0; round < ROUNDS; round++) {
      int whatAtEnd = round % 3;
      sessions.together(2, LargeValuesSubject::values, () -> {});
      if (whatAtEnd == 0) {
        db.checkpoint();
      } else if (whatAtEnd == 1) {
        db.cleanNow();
      }
    }
    sessions.worker().leaveOpen(writes -> writes.put(LARGE, Tables.key(LARGE_KEYS + 1), 300_000));
    sessions.worker().commit(writes -> writes.put(HOT, Tables.key(3), 50));
  }

  private static void values(Worker worker, RandomGenerator random) {
    for (int i = 0; i < 3; i++) {
      byte[] key = Tables.key(random.nextInt(LARGE_KEYS));
      int length = 9_000 + random.nextInt(120_000);
      switch (random.nextInt(5)) {
        case 0 -> worker.rollBack(writes -> writes.put(LARGE, key, length));
        case 1 -> worker.commit(writes -> writes.delete(LARGE, key));
        default ->
            worker.commit(writes -> {
              writes.put(LARGE, key, length);
              writes.put(HOT, key, 30);
            });
      }
    }
  }
}
