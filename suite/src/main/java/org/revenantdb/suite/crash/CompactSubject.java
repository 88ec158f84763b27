package org.revenantdb.suite.crash;

import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.WIDE;

import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * A data file that grows, is emptied at its front, and is compacted while other threads write.
 * Pages move, the file is cut, and grows again over the part that was cut off.
 */
public final class CompactSubject extends RevenantSubject {

  private static final int ROUNDS = 3;
  private static final int VALUES = 12;
  private static final int ROWS = 120;

  /**
   * The number of rows at the end that stay when the others are deleted, so that they have to move.
   */
  private static final int KEPT = 4;

  /** Creates the subject. */
  public CompactSubject() {}

  /** Several threads clean at the same time. */
  @Override
  DatabaseOptions options(Path database) {
    return options().withCleanerThreads(3);
  }

  @Override
  public void work(Database db, Promises promises) {
    Sessions sessions = new Sessions(db, promises);
    Worker main = sessions.worker();
    main.commit(writes -> writes.put(HOT, Tables.key(0), 30)); // its root is in front of all others
    main.commit(writes -> writes.put(WIDE, Tables.key(0), 30));
    for (int round = 0; round < ROUNDS; round++) {
      fill(main, promises.random());
      emptyTheFront(main);
      if (round > 0) {
        sessions.together(
            2,
            CompactSubject::some,
            () -> {
              db.compact();
              db.compact();
            });
      }
      main.rollBack(writes -> writes.put(LARGE, Tables.key(VALUES - 1), 9_000));
      db.compact();
      if (round == 1) {
        db.checkpoint();
      }
    }
    main.leaveOpen(writes -> writes.put(LARGE, Tables.key(VALUES), 200_000));
    main.commit(writes -> writes.put(HOT, Tables.key(3), 50));
  }

  private static void fill(Worker worker, RandomGenerator random) {
    for (int value = 0; value < VALUES; value++) {
      byte[] key = Tables.key(value);
      worker.commit(writes -> writes.put(LARGE, key, 60_000 + random.nextInt(60_000)));
    }
    for (int first = 0; first < ROWS; first += 30) {
      int from = first;
      worker.commit(writes -> {
        for (int row = from; row < from + 30; row++) {
          writes.put(WIDE, Tables.key(row), 1_000);
        }
      });
    }
  }

  private static void emptyTheFront(Worker worker) {
    worker.commit(writes -> {
      for (int value = 0; value < VALUES - KEPT; value++) {
        writes.delete(LARGE, Tables.key(value));
      }
      for (int row = 0; row < ROWS - 10 * KEPT; row++) {
        writes.delete(WIDE, Tables.key(row));
      }
    });
  }

  private static void some(Worker worker, RandomGenerator random) {
    for (int i = 0; i < 12; i++) {
      byte[] key = Tables.key(random.nextInt(VALUES));
      int length = 5_000 + random.nextInt(40_000);
      switch (random.nextInt(4)) {
        case 0 -> worker.rollBack(writes -> writes.put(LARGE, key, length));
        case 1 -> worker.commit(writes -> writes.delete(LARGE, key));
        default ->
            worker.commit(writes -> {
              writes.put(LARGE, key, length);
              writes.put(HOT, key, 30);
              writes.put(WIDE, Tables.key(random.nextInt(ROWS)), 900);
            });
      }
    }
  }
}
