package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.testing.Drawn;

/**
 * Threads, platform and virtual, take values durably and lazily, and put them into rows; in the
 * midst of it the disk is copied as a power cut or a kill would leave it, and the next life goes on
 * there. No value that was given durably before the copy, and none that a row of the copy has, ever
 * comes again; nor does one from below a position that the sequence was advanced to. Forces are
 * made only on request, so marks are often not durable.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices, though not the schedule.
 */
@Tag("slow")
class SequenceCrashTest {
  private static final DatabaseOptions OPTIONS = SMALL.withMaxLazyDelay(DatabaseOptions.NEVER);
  private static final int THREADS = 5;
  private static final int STEPS = 60;
  private static final int LIVES = 6;

  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());

  /** Of the life that is on. */
  private Set<Long> given = ConcurrentHashMap.newKeySet();

  /** What was given durably, by the time that it is here; of the life that is on. */
  private Set<Long> durable = ConcurrentHashMap.newKeySet();

  /** What no life may give any more. */
  private final Set<Long> forEver = new HashSet<>();

  /** The highest position to which a call that has returned has advanced the sequence. */
  private final AtomicLong position = new AtomicLong();

  @Test
  @Drawn(oneIn = 2)
  void R23_no_value_comes_again_after_a_crash_in_the_midst_of_many_threads() {
    long first = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    int rounds = Integer.getInteger("revenant.rounds", 4);
    for (int round = 0; round < rounds; round++) {
      long seed = first + round;
      System.out.println("SequenceCrashTest -Drevenant.seed=" + seed);
      try {
        round(new Random(seed));
      } catch (Throwable failure) {
        throw new AssertionError("-Drevenant.seed=" + seed + ": " + failure, failure);
      }
    }
  }

  /** No caller learns of a sequence that a crash undoes. */
  @Test
  void R10_a_sequence_that_was_got_is_there_after_every_power_cut() {
    CrashDisk disk = new CrashDisk();
    CrashDisk image;
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      db.getOrCreateSequence("s");
      image = disk.afterPowerCut(sector -> false);
    }
    try (Database db = Database.open(image.path("/db"), OPTIONS)) {
      assertEquals(List.of("s"), db.sequenceNames());
      assertEquals(1, db.getOrCreateSequence("s").next());
    }
  }

  private void round(Random random) throws InterruptedException {
    forEver.clear();
    position.set(0);
    SequenceOptions options =
        SequenceOptions.defaults()
            .withCacheSize(new int[] {1, 2, 7, 50}[random.nextInt(4)])
            .withOrder(random.nextBoolean() ? SequenceOrder.PLAIN : SequenceOrder.BIT_REVERSED);
    CrashDisk disk = new CrashDisk();
    for (int life = 0; life < LIVES; life++) {
      given = ConcurrentHashMap.newKeySet();
      durable = ConcurrentHashMap.newKeySet();
      disk = life(disk, options, random);
    }
  }

  /** One life, and the disk of the next. */
  private CrashDisk life(CrashDisk disk, SequenceOptions options, Random random)
      throws InterruptedException {
    CrashDisk[] image = new CrashDisk[1];
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      CheckReport report = db.check();
      assertTrue(report.isSound(), report::toString);
      Sequence sequence = db.getOrCreateSequence("s", options);
      Table table = db.getOrCreateTable("t");
      for (long value : rows(db, table)) {
        forEver.add(value);
      }
      AtomicInteger running = new AtomicInteger(THREADS);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        Random own = new Random(random.nextLong());
        Runnable work =
            () -> {
              try {
                for (int step = 0; step < STEPS; step++) {
                  step(db, sequence, table, own);
                }
              } catch (Throwable failure) {
                failures.add(failure);
              } finally {
                running.decrementAndGet();
              }
            };
        threads.add(t % 2 == 0 ? Thread.ofPlatform().start(work) : Thread.ofVirtual().start(work));
      }
      int when = random.nextInt(THREADS * STEPS);
      while (given.size() < when && running.get() > 0) {
        Await.pause();
      }
      Set<Long> before = Set.copyOf(durable); // each of them was given before the copy is made
      long advancedBefore = position.get();
      image[0] = random.nextInt(4) == 0 ? disk.afterKill() : disk.afterPowerCut(random);
      for (Thread thread : threads) {
        thread.join();
      }
      for (Throwable failure : failures) {
        throw new AssertionError(failure.toString(), failure);
      }
      assertEquals(THREADS * STEPS, given.size());
      forEver.addAll(before);
      position.set(advancedBefore);
    }
    return image[0];
  }

  private void step(Database db, Sequence sequence, Table table, Random random) {
    if (random.nextInt(20) == 0) {
      long to = sequence.position() + random.nextInt(-10, 100);
      sequence.advanceTo(Math.max(0, to));
      position.accumulateAndGet(to, Math::max);
    }
    boolean durably = random.nextInt(3) == 0;
    long advancedTo = position.get();
    long value = sequence.next(durably ? Durability.DURABLE : Durability.LAZY);
    assertTrue(given.add(value), value + " came twice in one life");
    assertFalse(forEver.contains(value), value + " came again");
    boolean isPlain = sequence.options().order() == SequenceOrder.PLAIN;
    long number = (isPlain ? value : Long.reverse(value << 1)) - 1; // from 1 by 1
    assertTrue(number >= advancedTo, number + " was given after an advance to " + advancedTo);
    if (durably) {
      durable.add(value);
    } else if (random.nextBoolean()) {
      boolean lazyCommit = random.nextBoolean();
      TransactionOptions how =
          lazyCommit ? TransactionOptions.lazy() : TransactionOptions.durable();
      db.run(how, tx -> tx.put(table, bytes("" + value), new byte[20]));
      if (!lazyCommit) {
        durable.add(value);
      }
    }
  }

  private static List<Long> rows(Database db, Table table) {
    return db.call(tx -> {
      List<Long> values = new ArrayList<>();
      try (Cursor cursor = tx.scan(table, null, null)) {
        while (cursor.next()) {
          values.add(Long.parseLong(Samples.text(cursor.key())));
        }
      }
      return values;
    });
  }
}
