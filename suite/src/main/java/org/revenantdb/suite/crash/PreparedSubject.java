package org.revenantdb.suite.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/**
 * Transactions that are prepared, and decided later or by the next life. Their names contain the
 * outcome, so transactions that are prepared after a crash are decided before the check. From the
 * return of {@code prepare} on the outcome is promised.
 */
public final class PreparedSubject extends RevenantSubject {

  private static final int SESSIONS = 2;
  private static final int ROUNDS = 8;
  private static final int LEFT = 3;

  /** Creates the subject. */
  public PreparedSubject() {}

  @Override
  public void work(Database db, Promises promises) {
    AtomicInteger numbers = new AtomicInteger();
    new Sessions(db, promises)
        .together(
            SESSIONS,
            (worker, random) -> rounds(db, worker, promises.seed(), numbers, random),
            db::checkpoint);
  }

  private static void rounds(
      Database db, Worker worker, long seed, AtomicInteger numbers, RandomGenerator random) {
    List<String> prepared = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      String name =
          (random.nextBoolean() ? COMMITTED : ROLLED_BACK) + seed + "-" + numbers.getAndIncrement();
      if (worker.prepare(name, isCommitted(name), writes -> rows(writes, random))) {
        prepared.add(name);
      }
      worker.commit(writes -> rows(writes, random));
      if (prepared.size() > LEFT) {
        decide(db, prepared.removeFirst());
      }
      if (random.nextInt(4) == 0) {
        db.cleanNow();
      }
    }
  }

  private static void rows(Worker.Writes writes, RandomGenerator random) {
    for (int row = random.nextInt(1, 6); row > 0; row--) {
      writes.put(Tables.HOT, Tables.key(random.nextInt(Tables.HOT_KEYS)), 40);
    }
    writes.delete(Tables.HOT, Tables.key(random.nextInt(Tables.HOT_KEYS)));
    if (random.nextInt(3) == 0) {
      writes.put(
          Tables.LARGE, Tables.key(random.nextInt(Tables.LARGE_KEYS)), random.nextInt(900, 30_000));
    }
  }
}
