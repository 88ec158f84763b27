package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;

/** Commits of a feed go when they have reached an age, by a clock that the tests set (§53). */
class ChangeFeedRetentionTest {
  private static final int STEPS = Boolean.getBoolean("revenant.long") ? 100_000 : 800;
  private static final long AGE = 640;
  private static final long PART = AGE / 64;

  private final AtomicLong millis = new AtomicLong(1_000_000);
  private final AtomicReference<Runnable> behindClock = new AtomicReference<>(() -> {});
  private final InstantSource clock =
      () -> {
        Instant read = Instant.ofEpochMilli(millis.get());
        behindClock.getAndSet(() -> {}).run();
        return read;
      };
  private Path directory;
  private Database db;
  private TypedTable<Long, String> table;
  private ChangeFeed feed;

  @BeforeEach
  void open(@TempDir Path folder) {
    directory = folder.resolve("db");
    open();
    feed.retain(retention());
  }

  private void open() {
    db =
        Database.open(
            directory,
            DatabaseOptions.defaults().withPoolBytes(8L << 20).withDurability(Durability.LAZY));
    table = TypedTable.open(db, "rows", Keys.longs(), Codecs.strings());
    feed = ChangeFeed.open(db, "feed");
    long _ = feed.watch(table);
  }

  private FeedRetention retention() {
    return FeedRetention.of(Duration.ofMillis(AGE)).withClock(clock).withTrimmer(false);
  }

  @AfterEach
  void close() {
    db.close();
  }

  /** Returns the position of a new commit. */
  private long commit() {
    db.run(tx -> table.put(tx, 1L, "a"));
    return feed.position();
  }

  private List<Long> positionsBehind(long after) {
    List<Long> found = new ArrayList<>();
    try {
      long _ = feed.read(after, Long.MAX_VALUE, commit -> found.add(commit.position()));
    } catch (Exception failure) {
      throw failure instanceof RuntimeException unchecked
          ? unchecked
          : new IllegalStateException(failure);
    }
    return found;
  }

  private long marks() {
    return db.read(tx -> tx.count(db.table("revenant.feed-marks/feed"), null, null));
  }

  @Test
  void a_commit_stays_for_the_age_and_then_goes() {
    long first = commit();
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE / 2);
    long second = commit();
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE / 2 - 1);
    assertEquals(0, feed.trimOld());
    assertEquals(List.of(first, second), positionsBehind(0));
    millis.addAndGet(1);
    assertEquals(1, feed.trimOld());
    assertEquals(first, feed.first());
    millis.addAndGet(AGE / 2);
    assertEquals(1, feed.trimOld());
    assertEquals(List.of(), positionsBehind(second));
    assertEquals(0, feed.trimOld());
    assertEquals(0, marks());
  }

  @Test
  void a_reader_behind_what_is_left_is_told() {
    long first = commit();
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE);
    assertEquals(1, feed.trimOld());
    long second = commit();
    ChangesGoneException gone =
        assertThrows(ChangesGoneException.class, () -> positionsBehind(first - 1));
    assertEquals(first, gone.first());
    assertEquals(second, gone.last());
    assertThrows(ChangesGoneException.class, () -> feed.follow(first - 1, _ -> {}));
    assertEquals(List.of(second), positionsBehind(first));
  }

  @Test
  void a_subscription_that_falls_behind_ends_with_the_reason() throws Exception {
    long first = commit();
    CountDownLatch isAtFirst = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    List<Long> passed = new ArrayList<>();
    FeedSubscription slow =
        feed.follow(
            0,
            commit -> {
              Thread.currentThread().setUncaughtExceptionHandler((_, _) -> {});
              passed.add(commit.position());
              assertEquals(first, commit.position()); // the next one is gone
              isAtFirst.countDown();
              goesOn.await();
            });
    isAtFirst.await();
    long _ = commit();
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE);
    assertEquals(2, feed.trimOld());
    long _ = commit();
    goesOn.countDown();
    while (slow.isAlive()) {
      LockSupport.parkNanos(1_000_000);
    }
    assertInstanceOf(ChangesGoneException.class, slow.failure());
    assertEquals(List.of(first), passed);
    slow.close();
  }

  @Test
  void ages_go_on_over_a_restart_but_nothing_is_removed_before_it_is_declared_again() {
    long first = commit();
    assertEquals(0, feed.trimOld());
    db.close();
    open();
    millis.addAndGet(AGE);
    String message = assertThrows(IllegalStateException.class, feed::trimOld).getMessage();
    assertTrue(message.contains("retain"), message);
    assertEquals(List.of(first), positionsBehind(0));
    feed.retain(retention());
    assertEquals(1, feed.trimOld());
    assertTrue(feed.retainAll());
    assertFalse(feed.retainAll());
    assertThrows(IllegalStateException.class, feed::trimOld);
  }

  @Test
  void commits_of_a_feed_that_had_no_retention_begin_to_age_when_it_has() {
    assertTrue(feed.retainAll());
    long first = commit();
    millis.addAndGet(10 * AGE);
    feed.retain(retention());
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE - 1);
    assertEquals(0, feed.trimOld());
    millis.addAndGet(1);
    assertEquals(1, feed.trimOld());
    assertEquals(first, feed.first());
  }

  @Test
  void a_removal_ends_when_a_longer_age_is_declared() throws Exception {
    FeedRetention longer =
        FeedRetention.of(Duration.ofMillis(2 * AGE)).withClock(clock).withTrimmer(false);
    assertRemovalEndsBy(() -> feed.retain(longer));
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE);
    assertEquals(200, feed.trimOld());
  }

  @Test
  void a_removal_ends_when_all_commits_are_to_stay() throws Exception {
    assertRemovalEndsBy(() -> {
      boolean _ = feed.retainAll();
    });
    assertEquals(0, marks());
  }

  /** The declaration comes while a removal of several transactions is in its first one. */
  private void assertRemovalEndsBy(Runnable declaration) throws Exception {
    for (int i = 0; i < 200; i++) {
      db.run(tx -> table.put(tx, 1L, "a"));
    }
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE);
    AtomicLong firstWhenDeclared = new AtomicLong(-1);
    Thread declares =
        Thread.ofPlatform()
            .unstarted(() -> {
              declaration.run();
              firstWhenDeclared.set(feed.first());
            });
    behindClock.set(() -> {
      declares.start();
      while (declares.isAlive() && declares.getState() != Thread.State.WAITING) {
        LockSupport.parkNanos(1_000_000);
      }
    });
    assertEquals(0, feed.trimOld());
    declares.join();
    assertEquals(0, firstWhenDeclared.get());
    assertEquals(0, feed.first());
    assertEquals(200, positionsBehind(0).size());
  }

  @Test
  void marks_go_with_the_retention() {
    long _ = commit();
    assertEquals(0, feed.trimOld());
    assertEquals(1, marks());
    assertTrue(feed.retainAll());
    assertEquals(0, marks());
    millis.addAndGet(AGE);
    feed.retain(retention());
    assertEquals(0, feed.trimOld()); // the commit begins to age
    millis.addAndGet(AGE);
    assertEquals(1, feed.trimOld());
  }

  @Test
  void marks_of_a_former_life_go_as_well() {
    long _ = commit();
    assertEquals(0, feed.trimOld());
    db.close();
    open();
    assertEquals(1, marks());
    assertFalse(feed.retainAll());
    assertEquals(0, marks());
  }

  @Test
  void a_clock_that_was_ahead_keeps_commits_for_one_age_more() {
    millis.addAndGet(Duration.ofDays(36_500).toMillis());
    long _ = commit();
    assertEquals(0, feed.trimOld());
    millis.addAndGet(-Duration.ofDays(36_500).toMillis());
    long _ = commit();
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE - 1);
    assertEquals(0, feed.trimOld());
    millis.addAndGet(1);
    assertEquals(1, feed.trimOld()); // and what came behind it has an age of its own
    millis.addAndGet(AGE);
    assertEquals(1, feed.trimOld());
  }

  @Test
  void marks_are_few_however_many_commits_there_are_and_whatever_the_clock_does() {
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 64; i++) {
        long _ = commit();
        assertEquals(0, feed.trimOld());
        long _ = commit();
        assertEquals(0, feed.trimOld());
        assertTrue(marks() <= i + 2, marks() + " marks, pass " + i);
        millis.addAndGet(PART);
      }
      millis.addAndGet(-2 * AGE);
      assertEquals(0, feed.trimOld());
      assertEquals(1, marks());
    }
  }

  @Test
  void a_clock_that_is_set_ahead_ages_commits_and_readers_are_told() {
    long first = commit();
    assertEquals(0, feed.trimOld());
    millis.addAndGet(Duration.ofDays(36_500).toMillis());
    assertEquals(1, feed.trimOld());
    assertThrows(ChangesGoneException.class, () -> positionsBehind(first - 1));
  }

  @Test
  void a_commit_beside_a_pass_does_not_get_the_time_of_the_pass() {
    long first = commit();
    behindClock.set(() -> {
      millis.addAndGet(AGE / 2);
      long _ = commit();
    });
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE / 2);
    assertEquals(1, feed.trimOld());
    assertEquals(first, feed.first());
  }

  @Test
  void ages_and_times_of_any_size_do_not_overflow() {
    for (long time : new long[] {-1, 0, Long.MAX_VALUE}) {
      millis.set(time);
      for (Duration age : List.of(Duration.ofNanos(1), Duration.ofSeconds(Long.MAX_VALUE))) {
        feed.retain(FeedRetention.of(age).withClock(clock).withTrimmer(false));
        long _ = commit();
        assertEquals(0, feed.trimOld(), time + ", " + age);
        assertEquals(0, feed.trimOld(), time + ", " + age);
        assertEquals(1, feed.trim(Long.MAX_VALUE));
      }
    }
    assertThrows(IllegalArgumentException.class, () -> FeedRetention.of(Duration.ZERO));
  }

  @Test
  void a_thread_removes_what_is_old() {
    long first = commit();
    assertEquals(0, feed.trimOld());
    millis.addAndGet(AGE);
    feed.retain(retention().withTrimmer(true));
    while (feed.first() < first) {
      LockSupport.parkNanos(1_000_000);
    }
    assertEquals(List.of(), positionsBehind(first));
  }

  /**
   * A commit of the model.
   *
   * @param ahead by how much the clock had been set ahead until then, all times together
   * @param back how often it had been set back until then
   */
  private record Commit(long position, long time, long ahead, int back) {}

  /**
   * Commits, time that passes, jumps of the clock and restarts. The model has the real time, which
   * the feed does not know: no commit goes before its age unless the clock was set ahead, and each
   * goes soon behind it, an age later for each time that the clock was set back.
   */
  @Tag("slow")
  @Test
  void no_commit_goes_early_and_none_stays_for_ever_whatever_the_clock_does() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("ChangeFeedRetentionTest: -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    List<Commit> commits = new ArrayList<>();
    long longest = 50;
    long time = 0;
    long ahead = 0;
    int back = 0;
    long gone = 0;
    for (int step = 0; step < STEPS || gone < 100; step++) {
      switch (random.nextInt(40)) {
        case 0 -> {
          millis.addAndGet(-random.nextLong(1, 3 * AGE));
          back++;
        }
        case 1 -> {
          long by = random.nextLong(1, random.nextInt(4) == 0 ? 3 * AGE : AGE / 3);
          millis.addAndGet(by);
          ahead += by;
        }
        case 2 -> {
          db.close();
          open();
          feed.retain(retention());
        }
        case 3 -> {
          long _ = feed.trim(feed.first() + random.nextInt(4));
        }
        case 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 ->
            commits.add(new Commit(commit(), time, ahead, back));
        default -> {
          long by = random.nextLong(1, longest);
          time += by;
          millis.addAndGet(by);
          gone += passAndCheck(commits, time, ahead, back, longest, "seed " + seed + ", " + step);
        }
      }
    }
  }

  private long passAndCheck(
      List<Commit> commits, long time, long ahead, int back, long longest, String where) {
    long trimmed = feed.first();
    long removed = feed.trimOld();
    long first = feed.first();
    List<Long> left = new ArrayList<>();
    for (Commit commit : commits) {
      long age = time - commit.time;
      if (commit.position > first) {
        left.add(commit.position);
        long most = (1 + back - commit.back) * (AGE + PART + 2 * longest);
        assertTrue(age <= most, where + ": " + commit + " stays for " + age + " of " + most);
      } else if (commit.position > trimmed) {
        long aged = age + ahead - commit.ahead;
        assertTrue(aged >= AGE, where + ": " + commit + " is gone at " + aged);
      }
    }
    assertEquals(left, positionsBehind(first), where);
    if (removed > 0) {
      assertThrows(ChangesGoneException.class, () -> positionsBehind(first - 1), where);
    }
    commits.removeIf(commit -> commit.position <= first);
    assertTrue(marks() <= 64 + 3, where + ": " + marks() + " marks");
    return removed;
  }
}
