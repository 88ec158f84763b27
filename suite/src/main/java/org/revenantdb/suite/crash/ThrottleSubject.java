package org.revenantdb.suite.crash;

import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.Waits;
import org.revenantdb.recovery.log.LogOptions;

/**
 * The smallest log, pool and number of pages for a restart, with sessions that write more than that
 * allows (docs/protocols.md §6). They are throttled until checkpoints have freed space, while a
 * transaction is in flight that has written more than all of it.
 */
public final class ThrottleSubject extends RevenantSubject {

  private static final String SCATTERED = "scattered";
  private static final String LONG = "long";
  private static final int SESSIONS = 3;
  private static final int ROWS = 900;
  private static final int LENGTH = 1_000;
  private static final int LONG_ROWS = 300;

  private static final int FEWEST_PAGES = 256;

  /** Creates the subject. */
  public ThrottleSubject() {}

  @Override
  DatabaseOptions options(Path database) {
    return options()
        .withMaxRecoveryPages(FEWEST_PAGES)
        .withMaxLogSize(LogOptions.smallestLogSize(LOG_LIMIT, SEGMENT));
  }

  @Override
  public void work(Database db, Promises promises) {
    Sessions sessions = new Sessions(db, promises);
    Worker main = sessions.worker();
    sessions.together(
        SESSIONS,
        (worker, random) -> scattered(worker, random, 14),
        () -> main.rollBack(writes -> many(writes, 0)));
    if (heldBack(db) == 0) {
      throw new IllegalStateException("no writer was throttled: " + db.waitStatistics());
    }
    sessions.together(
        SESSIONS,
        (worker, random) -> scattered(worker, random, 8),
        () -> main.commit(writes -> many(writes, LONG_ROWS)));
    main.leaveOpen(writes -> many(writes, 2 * LONG_ROWS));
    sessions.together(SESSIONS, (worker, random) -> scattered(worker, random, 3), () -> {});
  }

  private static long heldBack(Database db) {
    Waits waits = db.waitStatistics();
    return waits.of(WaitClass.LOG_CREDIT).count() + waits.of(WaitClass.PAGE_CREDIT).count();
  }

  /** With the writes of the sessions, more pages than a restart may read. */
  private static void many(Worker.Writes writes, int from) {
    for (int row = from; row < from + LONG_ROWS; row++) {
      writes.put(LONG, Tables.key(row), row % 10 == 0 ? 20_000 : LENGTH);
    }
  }

  private static void scattered(Worker worker, RandomGenerator random, int count) {
    for (int i = 0; i < count; i++) {
      if (i % 5 == 4) {
        worker.rollBack(writes -> some(writes, random));
      } else {
        worker.commit(writes -> some(writes, random));
      }
    }
  }

  /** Each in a different leaf. */
  private static void some(Worker.Writes writes, RandomGenerator random) {
    int first = random.nextInt(ROWS / 10);
    for (int i = 0; i < 10; i++) {
      writes.put(SCATTERED, Tables.key(first + i * ROWS / 10), LENGTH);
    }
  }
}
