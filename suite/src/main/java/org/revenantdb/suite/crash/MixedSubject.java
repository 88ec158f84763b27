package org.revenantdb.suite.crash;

import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT_KEYS;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE_KEYS;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.WIDE;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/**
 * The variant for most states: three sessions in conflict with each other, with checkpoints and
 * cleaning. A table grows, shrinks (pages merge) and grows again. There are some large values,
 * rollbacks, and a transaction that is open when the life ends.
 */
public final class MixedSubject extends RevenantSubject {

  private static final int SESSIONS = 3;
  private static final int WIDE_KEYS = 40;

  /** Creates the subject. */
  public MixedSubject() {}

  @Override
  public void work(Database db, Promises promises) {
    Sessions sessions = new Sessions(db, promises);
    Worker main = sessions.worker();
    sessions.together(SESSIONS, (worker, random) -> transactions(worker, random, 20), () -> {});
    db.checkpoint();
    grow(main, 0);
    sessions.together(
        SESSIONS,
        (worker, random) -> transactions(worker, random, 25),
        () -> {
          db.checkpoint();
          db.cleanNow();
          db.checkpoint();
        });
    shrink(main);
    db.cleanNow();
    grow(main, 1);
    sessions.together(SESSIONS, (worker, random) -> transactions(worker, random, 15), () -> {});
    main.leaveOpen(writes -> {
      writes.put(HOT, Tables.key(HOT_KEYS + 1), 30);
      writes.put(LARGE, Tables.key(LARGE_KEYS + 1), 20_000);
      writes.delete(WIDE, Tables.key(0));
    });
    // The force of the next commit includes records of the open transaction.
    transactions(main, promises.random(), 5);
  }

  private static void transactions(Worker worker, RandomGenerator random, int count) {
    for (int i = 0; i < count; i++) {
      switch (random.nextInt(8)) {
        case 0 -> worker.rollBack(writes -> some(writes, random));
        case 1 -> worker.witness(HOT, keys(random));
        default -> worker.commit(writes -> some(writes, random));
      }
    }
  }

  private static void some(Worker.Writes writes, RandomGenerator random) {
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      // Squared, so that low keys are hot and sessions meet.
      double share = random.nextDouble();
      byte[] key = Tables.key((int) (share * share * HOT_KEYS));
      if (random.nextInt(3) == 0) {
        writes.delete(HOT, key);
      } else {
        writes.put(HOT, key, 20 + random.nextInt(60));
      }
    }
    if (random.nextInt(8) == 0) {
      byte[] key = Tables.key(random.nextInt(LARGE_KEYS));
      if (random.nextInt(4) == 0) {
        writes.delete(LARGE, key);
      } else {
        writes.put(LARGE, key, 5_000 + random.nextInt(40_000));
      }
    }
  }

  private static List<byte[]> keys(RandomGenerator random) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      keys.add(Tables.key(random.nextInt(HOT_KEYS)));
    }
    return keys;
  }

  private static void grow(Worker worker, int step) {
    for (int first = 0; first < WIDE_KEYS; first += 8) {
      int from = first;
      worker.commit(writes -> {
        for (int key = from; key < from + 8; key++) {
          writes.put(WIDE, Tables.key(2 * key + step), 900 + 10 * key);
        }
      });
    }
  }

  private static void shrink(Worker worker) {
    worker.commit(writes -> {
      for (int key = 0; key < 2 * WIDE_KEYS; key++) {
        if (key % 16 != 0) {
          writes.delete(WIDE, Tables.key(key));
        }
      }
    });
  }
}
