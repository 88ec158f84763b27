package org.revenantdb.suite.crash;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CheckedSequence;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;

/**
 * Numbers from a sequence, taken durably and lazily, and put into rows. After a crash the sequence
 * continues above every number that was taken durably, and above all numbers in rows.
 */
public final class SequenceSubject extends RevenantSubject {
  /*
   * Promises                  A number that was given out is a promise about a row of its own, in
   *                           no table: "given/n". A recovered database has those up to the
   *                           sequence's mark. So numbers that were given out durably are promises
   *                           to be kept. All numbers that a life may reserve are attempts,
   *                           reported before.
   */
  private static final String NAME = "numbers";
  private static final String TABLE = "numbered";
  private static final String GIVEN = "given";

  /** Small, so that most crashes come near the end of a block. */
  private static final int CACHE = 4;

  private static final int SESSIONS = 3;
  private static final int STEPS = 24;

  /** More than a life reserves. */
  private static final int SPAN = 2 * SESSIONS * STEPS;

  /** Creates the subject. */
  public SequenceSubject() {}

  /** A mark is forced only by a session that needs it. */
  @Override
  DatabaseOptions options(Path database) {
    return options().withMaxLazyDelay(DatabaseOptions.NEVER);
  }

  @Override
  public void work(Database db, Promises promises) {
    Set<Long> given = ConcurrentHashMap.newKeySet();
    long reserved = reserved(db.check());
    for (long number = reserved + 1; number <= reserved + SPAN; number++) {
      promises.attempt(row(number), GIVEN);
    }
    Sequence numbers =
        db.getOrCreateSequence(NAME, SequenceOptions.defaults().withCacheSize(CACHE));
    new Sessions(db, promises)
        .together(
            SESSIONS,
            (worker, random) -> draw(numbers, worker, random, promises, given),
            db::checkpoint);
  }

  private static String row(long number) {
    return GIVEN + "/" + number;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static void draw(
      Sequence numbers, Worker worker, RandomGenerator random, Promises promises, Set<Long> given) {
    for (int step = 0; step < STEPS; step++) {
      int kind = random.nextInt(4);
      long number = numbers.next(kind == 0 ? Durability.DURABLE : Durability.LAZY);
      if (!given.add(number)) {
        throw new IllegalStateException(number + " was given twice");
      }
      byte[] key = Tables.key((int) number);
      switch (kind) {
        case 0 -> promises.durable(row(number), GIVEN);
        case 1 -> {
          worker.commit(writes -> writes.put(TABLE, key, 30));
          promises.durable(row(number), GIVEN);
        }
        case 2 -> worker.commitLazily(writes -> writes.put(TABLE, key, 30));
        default -> {} // given to a caller that does not survive the crash
      }
    }
  }

  @Override
  void checkMore(
      Database db, CheckReport report, Recovered recovered, List<Map.Entry<byte[], byte[]>> rows) {
    long reserved = reserved(report);
    String prefix = TABLE + "/";
    for (Map.Entry<byte[], byte[]> row : List.copyOf(rows)) {
      String key = new String(row.getKey(), StandardCharsets.US_ASCII);
      recovered.demand(
          !key.startsWith(prefix) || Long.parseLong(key.substring(prefix.length())) <= reserved,
          key + " has a number that the sequence gives again");
    }
    for (long number = 1; number <= reserved; number++) {
      rows.add(Map.entry(bytes(row(number)), bytes(GIVEN)));
    }
  }

  /** How many numbers may have been given out; 0 if the sequence does not exist yet. */
  private static long reserved(CheckReport report) {
    return report.sequences().stream().mapToLong(CheckedSequence::reserved).sum();
  }
}
