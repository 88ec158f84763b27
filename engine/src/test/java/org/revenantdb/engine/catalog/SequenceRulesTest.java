package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.InternalFailureException;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.change.ThrowAfterPublish;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.Await;

/**
 * R23, step by step, over a log in memory that is durable as far as it was requested: a crash may
 * leave any prefix of it that contains the durable part.
 */
class SequenceRulesTest {
  private static final Durability LAZY = Durability.LAZY;
  private static final Durability DURABLE = Durability.DURABLE;
  private static final SequenceOptions TEN = SequenceOptions.defaults().withCacheSize(10);

  @TempDir Path directory;

  /** An engine, one sequence in it, and a table. */
  private static final class Life implements AutoCloseable {
    final TestEngine engine;
    final Sequences sequences;
    final Sequence sequence;
    final Tree tree;

    Life(TestEngine engine, SequenceOptions options) {
      this.engine = engine;
      this.sequences = new Sequences(engine.engine, engine.catalog);
      this.sequence = sequences.findOrCreate("s", options);
      this.tree = engine.table("t");
      engine.journal.force();
    }

    int records() {
      return engine.journal.entries().size();
    }

    long lastLsn() {
      return engine.journal.entries().getLast().lsn();
    }

    boolean isAllDurable() {
      return engine.journal.durableLsn() >= lastLsn();
    }

    private static byte[] key(long value) {
      return Long.toString(value).getBytes(StandardCharsets.UTF_8);
    }

    /** Puts a row with this value; what its commit is, is published and not durable. */
    void store(long value) {
      TestEngine.Tx tx = engine.begin();
      assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key(value), new byte[10]));
      tx.commit();
    }

    boolean has(long value) {
      TestEngine.Tx tx = engine.begin();
      try {
        return tx.get(tree, key(value)) != null;
      } finally {
        tx.abort();
      }
    }

    /** The next life, if the log ends after so many records. */
    Life crash(Path directory, int records, SequenceOptions options) {
      List<MemoryJournal.Entry> kept = engine.journal.entries().subList(0, records);
      Map<Integer, byte[]> pages = Replay.newDatabase();
      Replay.redo(pages, kept);
      return new Life(TestEngine.restart(directory, kept, pages), options);
    }

    /** How many records are durable: no crash leaves fewer. */
    int durableRecords() {
      long durable = engine.journal.durableLsn();
      return (int) engine.journal.entries().stream().filter(e -> e.lsn() <= durable).count();
    }

    @Override
    public void close() {
      engine.close();
    }
  }

  private Life begin(SequenceOptions options) {
    return new Life(new TestEngine(directory, 512), options);
  }

  /** The values after this that a sequence may give at once. */
  private static Set<Long> draw(Sequence sequence, int count) {
    Set<Long> values = new HashSet<>();
    for (int i = 0; i < count; i++) {
      assertTrue(values.add(sequence.next(LAZY)), "a value twice in one life");
    }
    return values;
  }

  /** The schedule of the rule: the value goes out (an invoice), the crash comes before the mark. */
  @Test
  void R23_a_durable_caller_is_given_a_value_only_when_its_mark_is_durable() {
    try (Life life = begin(TEN)) {
      long lazy = life.sequence.next(LAZY);
      assertFalse(life.isAllDurable(), "forced, and nobody asked for it");
      try (Life next = life.crash(directory, life.durableRecords(), TEN)) {
        assertTrue(draw(next.sequence, 30).contains(lazy), "a lazy value may come again");
      }
      long durable = life.sequence.next(DURABLE); // of the very block
      assertTrue(life.isAllDurable());
      try (Life next = life.crash(directory, life.durableRecords(), TEN)) {
        assertFalse(draw(next.sequence, 30).contains(durable), durable + " came again");
      }
    }
  }

  @Test
  void R23_what_survives_a_crash_names_no_value_that_comes_again() {
    try (Life life = begin(TEN.withCacheSize(3))) {
      int from = life.records();
      List<Long> values = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        values.add(life.sequence.next(LAZY));
        life.store(values.getLast());
      }
      for (int records = from; records <= life.records(); records++) {
        try (Life next = life.crash(directory, records, TEN.withCacheSize(3))) {
          Set<Long> again = draw(next.sequence, 12);
          for (long value : values) {
            assertFalse(
                next.has(value) && again.contains(value),
                "after " + records + " records " + value + " comes again, and a row has it");
          }
        }
      }
    }
  }

  @Test
  void R23_the_next_block_is_logged_when_half_is_used() {
    try (Life life = begin(TEN)) {
      int before = life.records();
      for (int i = 1; i <= 40; i++) {
        life.sequence.next(LAZY);
        // One for the first value, one each when 5, 15, 25 and 35 have been given.
        assertEquals(before + 1 + (i + 5) / 10, life.records(), "after " + i);
      }
    }
  }

  @Test
  void R23_durable_callers_find_the_next_block_durable() {
    try (Life life = begin(TEN)) {
      for (int i = 1; i <= 5; i++) {
        life.sequence.next(DURABLE);
      }
      long durable = life.engine.journal.durableLsn();
      assertTrue(life.isAllDurable(), "the mark of the next block was not asked to be forced");
      for (int i = 6; i <= 14; i++) {
        assertEquals(i, life.sequence.next(DURABLE));
      }
      assertEquals(durable, life.engine.journal.durableLsn(), "somebody had to wait");
    }
  }

  @Test
  void R23_without_a_cache_each_value_is_logged_by_itself() {
    try (Life life = begin(TEN.withCacheSize(1))) {
      int before = life.records();
      for (int i = 1; i <= 10; i++) {
        assertEquals(i, life.sequence.next(LAZY));
        assertEquals(before + i, life.records());
      }
    }
  }

  @Test
  void R23_marks_are_absolute_and_redo_only() {
    long seed = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    System.out.println("SequenceRulesTest -Drevenant.seed=" + seed);
    try (Life life = begin(TEN.withCacheSize(2))) {
      int from = life.records();
      draw(life.sequence, 50);
      List<MemoryJournal.Entry> entries = life.engine.journal.entries();
      for (MemoryJournal.Entry entry : entries.subList(from, entries.size())) {
        assertTrue(entry.is(RecordType.PAGES));
        assertEquals(0, entry.transaction(), "nothing to abort");
        assertEquals(1, Replay.parts(entry).size(), "and no version bit");
      }
      // Pages of any age, redone once and again.
      Map<Integer, byte[]> pages =
          Replay.randomlyFlushed(Replay.newDatabase(), entries, from, new Random(seed));
      Replay.redo(pages, entries);
      TestEngine.assertSamePages(life.engine.memory(), pages);
      Replay.redo(pages, entries.subList(from + 10, entries.size()));
      TestEngine.assertSamePages(life.engine.memory(), pages);
      life.engine.checkAllClean();
    }
  }

  /**
   * A caller that fails to reserve ahead still has its value. A caller that needs the block
   * receives the failure, or the block.
   */
  @Test
  void R23_a_failure_ahead_is_not_the_failure_of_who_has_a_value() {
    try (Life life = begin(TEN)) {
      draw(life.sequence, 4);
      life.engine.journal.gate =
          record -> {
            throw new IllegalStateException("thrown by the test");
          };
      assertEquals(5, life.sequence.next(LAZY));
      assertEquals(Set.of(6L, 7L, 8L, 9L, 10L), draw(life.sequence, 5));
      assertThrows(InternalFailureException.class, () -> life.sequence.next(LAZY));
      life.engine.journal.gate = record -> {};
      assertEquals(11, life.sequence.next(LAZY));
      life.engine.check();
    }
  }

  @Test
  void R23_what_was_advanced_to_is_durable_whichever_block_has_it() {
    for (long position : new long[] {8, 12, 1_000}) { // in the current, the following, in none
      try (Life life = begin(TEN)) {
        draw(life.sequence, 6);
        assertFalse(life.isAllDurable(), "forced, and nobody asked for it");
        life.sequence.advanceTo(position);
        try (Life next = life.crash(directory, life.durableRecords(), TEN)) {
          long least = Collections.min(draw(next.sequence, 30));
          assertTrue(least > position, least + " was given after " + position);
        }
        assertEquals(position + 1, life.sequence.next(LAZY));
      }
    }
  }

  /** A failed advance forgot that the mark of the following block was not durable. */
  @Test
  void R23_an_advance_after_one_that_failed_waits_for_the_mark_that_it_relies_on() {
    try (Life life = begin(TEN)) {
      life.sequence.next(DURABLE);
      draw(life.sequence, 6); // half is used: the following block is reserved
      assertFalse(life.isAllDurable(), "forced, and nobody asked for it");
      life.engine.journal.gate =
          record -> {
            throw new IllegalStateException("thrown by the test");
          };
      assertThrows(InternalFailureException.class, () -> life.sequence.advanceTo(1_000));
      life.engine.journal.gate = record -> {};
      life.sequence.advanceTo(15);
      try (Life next = life.crash(directory, life.durableRecords(), TEN)) {
        long least = Collections.min(draw(next.sequence, 30));
        assertTrue(least > 15, least + " was given after 15");
      }
    }
  }

  /** One that waited with a latch would keep the checkpoint from what it waits for. */
  @Test
  void R17_a_mark_takes_credit_before_its_leaf_is_latched() throws InterruptedException {
    int most = 256;
    PageSpace pages = new PageSpace(() -> 0, most, most / 8, () -> {});
    try (Life life = new Life(new TestEngine(directory, 200, pages), TEN)) {
      int others = 0;
      while (pages.inUse() < most) {
        pages.dirtied();
        others++;
      }
      Thread waiter = Thread.ofPlatform().start(() -> life.sequence.next(LAZY));
      while (waiter.getState() != Thread.State.TIMED_WAITING) {
        assertTrue(waiter.isAlive(), "nothing was waited for");
        Await.pause();
      }
      int frame = life.engine.pool.tryFixExclusive(Catalog.ROOT);
      assertTrue(frame >= 0, "the leaf is latched by one who waits");
      life.engine.pool.unfixExclusive(frame);
      life.engine.pool.flushDirtyBefore(Long.MAX_VALUE);
      pages.written(others, 1, PageSpace.NOT_ON_RECORD);
      pages.redoPointMoved(life.engine.journal.tail());
      waiter.join();
      assertEquals(2, life.sequence.next(LAZY));
    }
  }

  @Test
  void R18_what_fails_behind_a_published_mark_stops_the_engine_and_brings_no_value_back() {
    for (int place = 0; place < 4; place++) {
      try (Life life = begin(TEN.withCacheSize(1))) {
        long before = life.sequence.next(DURABLE);
        Error error = new StackOverflowError("thrown by the test");
        try (ThrowAfterPublish failpoint =
            new ThrowAfterPublish(life.engine.journal, place, error, () -> {})) {
          if (place == 3) {
            life.sequence.next(LAZY);
            assertEquals(place, failpoint.passed(), "there are more places");
            break;
          }
          assertSame(error, assertThrows(StackOverflowError.class, () -> life.sequence.next(LAZY)));
        }
        for (Durability durability : Durability.values()) {
          assertThrows(
              DatabaseStoppedException.class, () -> life.sequence.next(durability), "stopped");
        }
        for (int records : new int[] {life.durableRecords(), life.records()}) {
          try (Life next = life.crash(directory, records, TEN.withCacheSize(1))) {
            assertFalse(draw(next.sequence, 5).contains(before));
            next.engine.check();
          }
        }
      }
    }
  }

  /** No caller learns of a sequence that a crash could undo. */
  @Test
  void R10_a_sequence_is_known_when_its_record_is_durable() {
    try (Life life = begin(TEN)) {
      Sequence made = life.sequences.findOrCreate("another", TEN);
      assertEquals(life.lastLsn(), life.sequences.createdAt());
      Sequences others = new Sequences(life.engine.engine, life.engine.catalog);
      assertEquals(
          made.options(), java.util.Objects.requireNonNull(others.find("another")).options());
      assertNull(others.find("none"));
      assertEquals(List.of("another", "s"), others.names());
    }
  }

  /**
   * Many lives, each crashed at a random end of its log: what a durable caller was given never
   * comes again, nor what a surviving row has; in one life nothing comes twice.
   */
  @Test
  void R23_random_lives_give_no_value_again() {
    long first = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    int rounds = Integer.getInteger("revenant.rounds", 20);
    for (int round = 0; round < rounds; round++) {
      long seed = first + round;
      System.out.println("SequenceRulesTest -Drevenant.seed=" + seed);
      try {
        lives(new Random(seed));
      } catch (Throwable failure) {
        throw new AssertionError(
            "-Drevenant.seed=" + seed + " -Drevenant.rounds=1: " + failure, failure);
      }
    }
  }

  private void lives(Random random) {
    SequenceOptions options =
        SequenceOptions.defaults()
            .withStart(1 + random.nextInt(100))
            .withIncrement(1 + random.nextInt(5))
            .withCacheSize(random.nextInt(12))
            .withOrder(random.nextBoolean() ? SequenceOrder.PLAIN : SequenceOrder.BIT_REVERSED);
    Set<Long> forEver = new HashSet<>();
    Set<Long> stored = new HashSet<>();
    Life life = begin(options);
    try {
      for (int lives = 0; lives < 6; lives++) {
        Set<Long> given = new HashSet<>();
        List<Long> lazy = new ArrayList<>();
        for (int step = 0; step < 60; step++) {
          switch (random.nextInt(8)) {
            case 0 -> {
              long value = life.sequence.next(DURABLE);
              assertTrue(given.add(value), value + " came twice in one life");
              assertTrue(forEver.add(value), value + " came again");
            }
            case 1 -> {
              if (!lazy.isEmpty()) {
                long value = lazy.remove(random.nextInt(lazy.size()));
                life.store(value);
                stored.add(value);
              }
            }
            case 2 -> {
              if (random.nextInt(4) == 0) {
                life.engine.journal.force();
              }
            }
            default -> {
              long value = life.sequence.next(LAZY);
              lazy.add(value);
              assertTrue(given.add(value), value + " came twice in one life");
              assertFalse(forEver.contains(value), value + " came again");
              assertFalse(stored.contains(value), value + " came again, and a row has it");
            }
          }
        }
        int least = life.durableRecords();
        int records = least + random.nextInt(life.records() - least + 1);
        Life next = life.crash(directory, records, options);
        life.close();
        life = next;
        Life now = life;
        stored.removeIf(value -> !now.has(value));
      }
      life.engine.checkAllClean();
    } finally {
      life.close();
    }
  }
}
