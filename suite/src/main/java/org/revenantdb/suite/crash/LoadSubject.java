package org.revenantdb.suite.crash;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * Bulk loads that are finished, cancelled or left open: into an empty table, behind existing rows,
 * over the rest of earlier loads and lives, and beside a session that writes the same table.
 */
public final class LoadSubject extends RevenantSubject {

  private static final String LOADED = "loaded";
  private static final int ROUNDS = 6;

  /** Rows of a load: some tens of pages. */
  private static final int ROWS = 400;

  /** Creates the subject. */
  public LoadSubject() {}

  /** Several threads clean at the same time. */
  @Override
  DatabaseOptions options(Path database) {
    return options().withCleanerThreads(3);
  }

  @Override
  public void work(Database db, Promises promises) {
    RandomGenerator random = promises.random();
    Sessions sessions = new Sessions(db, promises);
    Worker main = sessions.worker();
    int end = 0;
    for (int round = 0; round < ROUNDS; round++) {
      // Mostly behind all others; sometimes over existing rows, including those of
      // the other session.
      int from = random.nextInt(4) == 0 ? random.nextInt(end + 1) : end;
      List<byte[]> keys = keys(from, 20 + random.nextInt(ROWS), 1 + random.nextInt(3));
      end = Math.max(end, from + 3 * ROWS + 60);
      boolean finish = random.nextInt(3) > 0;
      sessions.together(
          1,
          (worker, others) -> beside(worker, others, from),
          () -> {
            if (finish) {
              main.load(LOADED, keys, LoadSubject::length);
            } else {
              main.giveUpLoad(LOADED, keys, LoadSubject::length, /* close= */ true);
            }
          });
      if (random.nextInt(3) == 0) {
        db.checkpoint();
      }
      if (random.nextInt(3) == 0) {
        db.cleanNow();
      }
    }
    main.giveUpLoad(LOADED, keys(end, ROWS, 1), LoadSubject::length, /* close= */ false);
    main.commit(writes -> writes.put(Tables.HOT, Tables.key(1), 40));
  }

  private static List<byte[]> keys(int from, int count, int step) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      keys.add(Tables.key(from + i * step));
    }
    return keys;
  }

  /** Some need pages of their own. */
  private static int length(byte[] key) {
    int hash = key[key.length - 1] * 31 + key[key.length - 2] * 7 + key[key.length - 3];
    return hash % 61 == 0 ? 9_000 + 100 * hash : 40 + hash % 500;
  }

  private static void beside(Worker worker, RandomGenerator random, int from) {
    for (int i = 0; i < 8; i++) {
      // Rarely in the range of the load, because otherwise most loads would end in a conflict.
      int key = random.nextInt(6) == 0 ? from + random.nextInt(ROWS) : random.nextInt(from + 1);
      if (random.nextInt(3) == 0) {
        worker.commit(writes -> writes.delete(LOADED, Tables.key(key)));
      } else {
        worker.commit(writes -> writes.put(LOADED, Tables.key(key), 60 + random.nextInt(300)));
      }
    }
  }
}
