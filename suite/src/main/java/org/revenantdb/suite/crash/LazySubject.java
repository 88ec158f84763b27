package org.revenantdb.suite.crash;

import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.HOT_KEYS;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.LARGE_KEYS;
import static org.revenantdb.suite.crash.RevenantSubject.Tables.WIDE;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * Lazy commits, and durable transactions that see them. After a crash everything is there that was
 * acknowledged as durable or seen by a durable reader. After a power cut a prefix of the lazy
 * commits is there, in commit order over all tables, and nothing else. After the death of the
 * process all of them are there.
 */
public final class LazySubject extends RevenantSubject {
  /*
   * Alone       One session commits lazily and then gets one durable answer, each time of another
   *             kind. Nothing else forces the log, so an answer that does not wait for the commit
   *             that it depends on is lost in the next crash. Later there are answers of one kind
   *             only and many commits: if those answers do not wait, nothing is written for a
   *             while, and a kill finds that, too.
   * Together    Several sessions use the same rows, lazily and durably, beside checkpoints and the
   *             cleaner.
   *
   * The first life forces only on request. Later lives, of an existing database, also force by
   * themselves after a while.
   */
  private static final Duration SHORT_DELAY = Duration.ofMillis(20);

  /** Rows that only the first session writes: it knows the author of every answer about them. */
  private static final String OWN = "own";

  private static final int OWN_KEYS = 8;
  private static final int STEPS = 80;
  private static final int STEPS_OF_ONE_KIND = 24;

  /** The kinds of durable answers; some numbers share a kind, so that it is given more often. */
  private static final int KINDS = 14;

  private static final int SESSIONS = 3;
  private static final int WIDE_KEYS = 24;

  private final @Nullable Duration delay;

  /** Creates the subject. */
  public LazySubject() {
    this.delay = null;
  }

  /** Creates the subject with one delay for all of its lives. */
  LazySubject(Duration delay) {
    this.delay = delay;
  }

  @Override
  DatabaseOptions options(Path database) {
    if (delay != null) {
      return options().withMaxLazyDelay(delay);
    }
    boolean first = !Files.exists(database.resolve("revenant.data"));
    return options().withMaxLazyDelay(first ? DatabaseOptions.NEVER : SHORT_DELAY);
  }

  @Override
  public void work(Database db, Promises promises) {
    Sessions sessions = new Sessions(db, promises);
    Worker main = sessions.worker();
    RandomGenerator random = promises.random();
    for (int step = 0; step < STEPS; step++) {
      alone(db, sessions, main, random, random.nextInt(3), random.nextInt(KINDS));
    }
    sessions.together(
        SESSIONS,
        LazySubject::together,
        () -> {
          db.checkpoint();
          db.cleanNow();
        });
    int only = random.nextInt(KINDS);
    for (int step = 0; step < STEPS_OF_ONE_KIND; step++) {
      alone(db, sessions, main, random, random.nextInt(20), only);
    }
    main.commitLazily(writes -> writes.put(HOT, Tables.key(0), 40));
  }

  private static void alone(
      Database db,
      Sessions sessions,
      Worker worker,
      RandomGenerator random,
      int commits,
      int kind) {
    for (int i = 0; i < commits; i++) {
      worker.commitLazily(writes -> some(writes, random));
    }
    if (random.nextInt(10) == 0) {
      worker.rollBack(writes -> some(writes, random));
    }
    if (random.nextInt(40) == 0) {
      db.checkpoint();
    }
    answer(db, sessions, worker, random, kind, Tables.key(random.nextInt(OWN_KEYS)));
  }

  /** One durable answer about a row that was just written lazily. */
  private static void answer(
      Database db, Sessions sessions, Worker worker, RandomGenerator random, int kind, byte[] key) {
    DurableReader reader = worker.reader();
    if (kind == 0) {
      reader.conflict(OWN, key, () -> stored(worker, random, key));
      return;
    }
    byte[] now = own(worker, random, key);
    if (random.nextBoolean()) {
      db.cleanNow(); // must not remove what shows the write
    }
    switch (kind) {
      case 1, 2 -> reader.get(OWN, List.of(key));
      case 3 -> reader.stream(OWN, key);
      case 4 -> reader.exists(OWN, key, now);
      case 5 -> reader.delete(OWN, key, now);
      case 6 -> reader.scan(OWN, range(), /* descending= */ false);
      case 7 -> reader.scan(OWN, range(), /* descending= */ true);
      case 8 -> reader.afterCommit(OWN, List.of(key));
      case 9, 10 ->
          reader.older(
              OWN,
              key,
              () ->
                  sessions.together(
                      1,
                      (other, any) -> {
                        for (int i = 0; i < 3; i++) { // the row itself has space for two versions
                          own(other, random, key);
                        }
                      },
                      () -> {}));
      case 11 -> worker.sync();
      case 12 -> worker.commit(writes -> some(writes, random));
      default -> worker.commitAsync(writes -> some(writes, random));
    }
  }

  /** Writes or deletes a row of its own lazily; returns the new value of the row in promises. */
  private static byte @Nullable [] own(Worker worker, RandomGenerator random, byte[] key) {
    if (random.nextInt(3) > 0) {
      return stored(worker, random, key);
    }
    worker.commitLazily(writes -> writes.delete(OWN, key));
    return null;
  }

  private static byte @Nullable [] stored(Worker worker, RandomGenerator random, byte[] key) {
    byte[][] now = new byte[1][];
    worker.commitLazily(writes -> now[0] = writes.put(OWN, key, 16 + random.nextInt(40)));
    return now[0];
  }

  private static List<byte[]> range() {
    List<byte[]> keys = new ArrayList<>();
    for (int key = 0; key <= OWN_KEYS; key++) {
      keys.add(Tables.key(key));
    }
    return keys;
  }

  private static void together(Worker worker, RandomGenerator random) {
    for (int i = 0; i < 25; i++) {
      int hot = hot(random);
      switch (random.nextInt(12)) {
        case 0 -> worker.rollBack(writes -> some(writes, random));
        case 1 -> worker.reader().get(HOT, List.of(Tables.key(hot), Tables.key(hot(random))));
        case 2 ->
            worker
                .reader()
                .scan(
                    HOT,
                    List.of(Tables.key(hot), Tables.key(hot + 1), Tables.key(hot + 2)),
                    random.nextBoolean());
        case 3 -> worker.commit(writes -> some(writes, random));
        case 4 -> worker.sync();
        default -> worker.commitLazily(writes -> some(writes, random));
      }
    }
  }

  /** Squared, so that low keys are hot and sessions meet. */
  private static int hot(RandomGenerator random) {
    double share = random.nextDouble();
    return (int) (share * share * HOT_KEYS);
  }

  /** Writes in several tables; a crash must leave all of it or nothing. */
  private static void some(Worker.Writes writes, RandomGenerator random) {
    for (int i = random.nextInt(3); i >= 0; i--) {
      byte[] key = Tables.key(hot(random));
      if (random.nextInt(3) == 0) {
        writes.delete(HOT, key);
      } else {
        writes.put(HOT, key, 20 + random.nextInt(40));
      }
    }
    if (random.nextInt(3) == 0) {
      byte[] key = Tables.key(random.nextInt(WIDE_KEYS));
      if (random.nextInt(3) == 0) {
        writes.delete(WIDE, key);
      } else {
        writes.put(WIDE, key, 600 + random.nextInt(600));
      }
    }
    if (random.nextInt(16) == 0) {
      writes.put(LARGE, Tables.key(random.nextInt(LARGE_KEYS)), 5_000 + random.nextInt(20_000));
    }
  }
}
