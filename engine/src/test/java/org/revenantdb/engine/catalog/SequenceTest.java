package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.get;
import static org.revenantdb.engine.testing.Samples.put;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/** Sequences through the public API. Forces are made only on request. */
class SequenceTest {
  private static final SequenceOptions BY_DEFAULT = SequenceOptions.defaults();
  private static final DatabaseOptions OPTIONS = SMALL.withMaxLazyDelay(DatabaseOptions.NEVER);
  private static final Durability LAZY = Durability.LAZY;
  private static final Durability DURABLE = Durability.DURABLE;

  @TempDir private Path folder;

  private Database db;

  @BeforeEach
  void openDatabase() {
    db = Database.open(folder.resolve("db"), OPTIONS);
  }

  @AfterEach
  void closeDatabase() {
    db.close();
  }

  private void reopen(DatabaseOptions options) {
    db.close();
    db = Database.open(folder.resolve("db"), options);
  }

  private static List<Long> draw(Sequence sequence, int count) {
    return IntStream.range(0, count).mapToObj(i -> sequence.next(LAZY)).toList();
  }

  @Test
  void advanceTo_leavesOutTheValuesBefore_inABlockAndBehindIt() {
    Sequence sequence = db.getOrCreateSequence("s", BY_DEFAULT.withCacheSize(10));
    assertEquals(0, sequence.position());
    sequence.advanceTo(3);
    assertEquals(3, sequence.position());
    assertEquals(List.of(4L, 5L), draw(sequence, 2));
    sequence.advanceTo(9); // within the block
    assertEquals(List.of(10L), draw(sequence, 1));
    sequence.advanceTo(4_711); // behind all blocks
    assertEquals(4_711, sequence.position());
    assertEquals(List.of(4_712L, 4_713L), draw(sequence, 2));
    assertEquals(4_713, sequence.position());
  }

  @Test
  void advanceTo_intoTheBlockThatFollows_goesOnThere() {
    Sequence sequence = db.getOrCreateSequence("s", BY_DEFAULT.withCacheSize(10));
    assertEquals(7, draw(sequence, 7).getLast()); // half is used: the following block is reserved
    sequence.advanceTo(12);
    assertEquals(List.of(13L, 14L), draw(sequence, 2));
  }

  @Test
  void advanceTo_aPositionThatWasPassed_changesNothing() {
    for (int cache : new int[] {1, 10}) {
      Sequence sequence = db.getOrCreateSequence("s" + cache, BY_DEFAULT.withCacheSize(cache));
      assertEquals(List.of(1L, 2L, 3L), draw(sequence, 3));
      sequence.advanceTo(0);
      sequence.advanceTo(3);
      assertEquals(3, sequence.position());
      assertEquals(List.of(4L, 5L), draw(sequence, 2));
    }
  }

  @Test
  void advanceTo_ofAnotherStepAndOrder_countsValues() {
    Sequence tens = db.getOrCreateSequence("tens", BY_DEFAULT.withStart(100).withIncrement(-10));
    tens.advanceTo(4);
    assertEquals(List.of(60L, 50L), draw(tens, 2));
    SequenceOptions reversed = BY_DEFAULT.withOrder(SequenceOrder.BIT_REVERSED);
    Sequence one = db.getOrCreateSequence("one", reversed);
    List<Long> all = draw(one, 20);
    Sequence other = db.getOrCreateSequence("other", reversed);
    other.advanceTo(15);
    assertEquals(all.subList(15, 20), draw(other, 5));
  }

  @Test
  void advanceTo_survivesAReopen_andTheEndOfTheRangeIsTheEnd() {
    SequenceOptions last = BY_DEFAULT.withStart(Long.MAX_VALUE - 9);
    Sequence sequence = db.getOrCreateSequence("s", last);
    for (long outside : new long[] {-1, 11}) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> sequence.advanceTo(outside))
              .getMessage();
      assertTrue(message.contains("position") && message.contains("0 to 10"), message);
    }
    sequence.advanceTo(8);
    reopen(OPTIONS);
    Sequence again = db.getOrCreateSequence("s");
    assertEquals(8, again.position());
    assertEquals(List.of(Long.MAX_VALUE - 1, Long.MAX_VALUE), draw(again, 2));
    again.advanceTo(10);
    assertEquals(10, again.position());
    assertRefused(LimitException.Reason.SEQUENCE_EXHAUSTED, again::next);
  }

  @Test
  void position_ofAReadOnlyDatabase_isRead_andAdvanceToIsRefused() {
    db.getOrCreateSequence("s").advanceTo(5);
    reopen(OPTIONS.withReadOnly(true));
    Sequence sequence = db.findSequence("s");
    assertEquals(5, sequence.position());
    assertThrows(ReadOnlyDatabaseException.class, () -> sequence.advanceTo(6));
  }

  @Test
  void next_countsUpFromOne() {
    assertEquals(List.of(1L, 2L, 3L), draw(db.getOrCreateSequence("s"), 3));
    assertEquals(4, db.getOrCreateSequence("s").next());
    assertEquals(5, db.getOrCreateSequence("s").next(DURABLE));
  }

  @Test
  void next_byIncrement_overManyBlocks() {
    Sequence up =
        db.getOrCreateSequence("up", BY_DEFAULT.withStart(-10).withIncrement(7).withCacheSize(3));
    Sequence down =
        db.getOrCreateSequence("down", BY_DEFAULT.withStart(5).withIncrement(-2).withCacheSize(4));
    for (int i = 0; i < 50; i++) {
      assertEquals(-10 + 7 * i, up.next(LAZY));
      assertEquals(5 - 2 * i, down.next(LAZY));
    }
  }

  @Test
  void next_bitReversed_isPositiveAndReversesTheCounter() {
    Sequence sequence =
        db.getOrCreateSequence(
            "s", BY_DEFAULT.withOrder(SequenceOrder.BIT_REVERSED).withCacheSize(7));
    Set<Long> seen = new HashSet<>();
    for (long i = 1; i <= 1_000; i++) {
      long value = sequence.next(LAZY);
      assertTrue(value > 0 && seen.add(value));
      assertEquals(i, Long.reverse(value) >>> 1);
    }
  }

  @Test
  void next_withoutCache_leavesNoGapEvenOverAClose() {
    for (int none = 0; none <= 1; none++) {
      String name = "none" + none;
      SequenceOptions options = BY_DEFAULT.withCacheSize(none);
      assertEquals(List.of(1L, 2L, 3L), draw(db.getOrCreateSequence(name, options), 3));
      reopen(OPTIONS);
      assertEquals(List.of(4L, 5L), draw(db.getOrCreateSequence(name, options), 2));
    }
  }

  @Test
  void next_ofTwoNames_areIndependent() {
    SequenceOptions options = BY_DEFAULT.withCacheSize(2);
    Sequence one = db.getOrCreateSequence("one", options);
    Sequence other = db.getOrCreateSequence("other", options);
    for (long i = 1; i < 20; i++) {
      assertEquals(i, one.next(LAZY));
      assertEquals(i, other.next(LAZY));
    }
  }

  @Test
  void next_afterReopening_givesNoValueTwice() {
    Set<Long> seen = new HashSet<>();
    for (int life = 0; life < 5; life++) {
      for (Durability durability : Durability.values()) {
        Sequence sequence = db.getOrCreateSequence("s", BY_DEFAULT.withCacheSize(10));
        for (int i = 0; i < 27; i++) {
          assertTrue(seen.add(sequence.next(durability)));
        }
      }
      reopen(OPTIONS);
    }
  }

  @Test
  void next_costsNoTransaction_andARollbackTakesNothingBack() {
    Sequence sequence = db.getOrCreateSequence("s");
    Table table = db.getOrCreateTable("t");
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("" + sequence.next()), bytes("x"));
      tx.rollback();
    }
    assertEquals(2, sequence.next());
    db.cleanNow();
    assertEquals(3, sequence.next());
  }

  @Test
  void next_lazily_causesNoForce_andDurably_oneABlock() {
    Sequence sequence = db.getOrCreateSequence("s", BY_DEFAULT.withCacheSize(1_000));
    db.checkpoint();
    long forces = db.statistics().files().forces();
    draw(sequence, 3_000);
    assertEquals(forces, db.statistics().files().forces());
    sequence.next(DURABLE);
    long durable = db.statistics().files().durableLsn();
    for (int i = 0; i < 400; i++) {
      sequence.next(DURABLE);
    }
    assertEquals(durable, db.statistics().files().durableLsn(), "the block was durable");
  }

  @Test
  void exhaustion_isAnError_andNothingWrapsAround() {
    SequenceOptions[] ends = {
      BY_DEFAULT.withStart(Long.MAX_VALUE - 4),
      BY_DEFAULT.withStart(Long.MAX_VALUE - 13).withIncrement(3).withCacheSize(2),
      BY_DEFAULT.withStart(Long.MIN_VALUE + 4).withIncrement(-1).withCacheSize(1),
      BY_DEFAULT.withStart(5).withIncrement(-1).withOrder(SequenceOrder.BIT_REVERSED),
      BY_DEFAULT
          .withStart(Long.MAX_VALUE - 4)
          .withCacheSize(4)
          .withOrder(SequenceOrder.BIT_REVERSED),
    };
    for (int i = 0; i < ends.length; i++) {
      String name = "end" + i;
      Sequence sequence = db.getOrCreateSequence(name, ends[i]);
      assertEquals(5, new HashSet<>(draw(sequence, 5)).size(), ends[i].toString());
      for (Durability durability : Durability.values()) {
        LimitException told =
            assertRefused(
                LimitException.Reason.SEQUENCE_EXHAUSTED, () -> sequence.next(durability));
        assertTrue(told.getMessage().contains(name), told.getMessage());
      }
    }
    assertTrue(db.check().isSound());
    reopen(OPTIONS);
    for (int i = 0; i < ends.length; i++) {
      Sequence sequence = db.getOrCreateSequence("end" + i, ends[i]);
      assertRefused(LimitException.Reason.SEQUENCE_EXHAUSTED, sequence::next);
    }
  }

  @Test
  void options_thatMakeNoSense_areRefused() {
    refused("increment", () -> BY_DEFAULT.withIncrement(0));
    refused("cacheSize", () -> BY_DEFAULT.withCacheSize(-1));
    SequenceOptions reversed = BY_DEFAULT.withOrder(SequenceOrder.BIT_REVERSED);
    refused("start", () -> reversed.withStart(0));
    refused("start", () -> BY_DEFAULT.withStart(-5).withOrder(SequenceOrder.BIT_REVERSED));
    assertEquals(BY_DEFAULT.withCacheSize(1), BY_DEFAULT.withCacheSize(0));
  }

  private static void refused(String what, Runnable action) {
    IllegalArgumentException told = assertThrows(IllegalArgumentException.class, action::run);
    assertTrue(told.getMessage().contains(what), told.getMessage());
  }

  @Test
  void sequence_thatExists_isFoundWithItsOptions_andRefusedWithOthers() {
    SequenceOptions options = BY_DEFAULT.withStart(100).withIncrement(5);
    Sequence made = db.getOrCreateSequence("s", options);
    assertSame(made, db.getOrCreateSequence("s"));
    assertSame(made, db.getOrCreateSequence("s", options));
    assertSame(made, db.findSequence("s"));
    assertEquals("s", made.name());
    refusedOptions("increment", () -> db.getOrCreateSequence("s", options.withIncrement(6)));
    reopen(OPTIONS);
    assertEquals(options, db.getOrCreateSequence("s").options());
    refusedOptions("cacheSize", () -> db.getOrCreateSequence("s", options.withCacheSize(7)));
  }

  private static void refusedOptions(String what, Executable call) {
    CatalogException told = assertRefused(CatalogException.Reason.OTHER_OPTIONS, call);
    assertTrue(told.getMessage().contains(what), told.getMessage());
  }

  @Test
  void a_wrong_name_creates_no_sequence() {
    CatalogException told =
        assertRefused(CatalogException.Reason.MISSING, () -> db.sequence("invoces"));
    assertTrue(told.getMessage().contains("invoces"), told.getMessage());
    assertTrue(
        told.getMessage().contains("createSequence or getOrCreateSequence"), told.getMessage());
    assertEquals(List.of(), db.sequenceNames());
  }

  @Test
  void a_sequence_is_created_once() {
    SequenceOptions options = BY_DEFAULT.withStart(7);
    Sequence made = db.createSequence("s", options);
    assertSame(made, db.sequence("s"));
    assertRefused(CatalogException.Reason.EXISTS, () -> db.createSequence("s"));
    assertRefused(CatalogException.Reason.EXISTS, () -> db.createSequence("s", options));
    assertEquals(7, made.next());
    assertEquals(BY_DEFAULT, db.createSequence("other").options());
    reopen(OPTIONS);
    assertEquals(options, db.sequence("s").options());
    assertRefused(CatalogException.Reason.EXISTS, () -> db.createSequence("s", options));
    assertEquals(List.of("other", "s"), db.sequenceNames());
  }

  @Test
  void names_areListedInOrder_apartFromTables() {
    assertEquals(List.of(), db.sequenceNames());
    put(db, "both", "k", "v");
    for (String name : List.of("z", "both", "ä", "a")) {
      db.getOrCreateSequence(name).next();
    }
    List<String> expected = List.of("a", "both", "z", "ä");
    assertEquals(expected, db.sequenceNames());
    assertEquals(List.of("both"), db.tableNames());
    assertNull(db.findSequence("none"));
    assertNull(db.findTable("z"));
    reopen(OPTIONS);
    assertEquals(expected, db.sequenceNames());
    assertEquals(List.of("both"), db.tableNames());
    assertEquals("v", get(db, "both", "k"));
    put(db, "z", "k", "w");
    assertEquals(List.of("both", "z"), db.tableNames());
    assertEquals(
        List.of("a:1000", "both:1000", "z:1000", "ä:1000"),
        db.check().sequences().stream().map(s -> s.name() + ":" + s.reserved()).toList());
    assertEquals(2, db.check().tables());
    assertTrue(db.compact().fileBytes() > 0);
  }

  @Test
  void names_thatAreNone_areRefused() {
    String longest = "x".repeat(1_023);
    assertEquals(1, db.getOrCreateSequence(longest).next());
    for (String name : List.of("", "x".repeat(1_024))) {
      assertRefused(LimitException.Reason.NAME_LENGTH, () -> db.getOrCreateSequence(name));
      assertRefused(LimitException.Reason.NAME_LENGTH, () -> db.createSequence(name));
      assertRefused(LimitException.Reason.NAME_LENGTH, () -> db.findSequence(name));
    }
    assertRefused(LimitException.Reason.NAME_CHARACTERS, () -> db.sequence("\uD800"));
  }

  @Test
  void sequences_asManyAsSplitTheCatalogue() {
    List<Sequence> sequences = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      sequences.add(
          db.getOrCreateSequence(
              "%03d-".formatted(i) + "x".repeat(800), BY_DEFAULT.withCacheSize(2)));
      db.getOrCreateTable("t" + i);
      sequences.forEach(sequence -> sequence.next(LAZY));
    }
    assertTrue(db.check().isSound());
    reopen(OPTIONS);
    assertEquals(60, db.sequenceNames().size());
    assertEquals(60, db.tableNames().size());
    for (int i = 0; i < 60; i++) {
      long next = db.getOrCreateSequence("%03d-".formatted(i) + "x".repeat(800)).next();
      assertTrue(next > 60 - i && next <= 60 - i + 5, "sequence " + i + " goes on with " + next);
    }
  }

  @Test
  void readOnly_refusesNextAndNewOnes_andFindsOldOnes() {
    db.getOrCreateSequence("s").next();
    reopen(OPTIONS.withReadOnly(true));
    Sequence sequence = Objects.requireNonNull(db.findSequence("s"));
    assertEquals(List.of("s"), db.sequenceNames());
    assertSame(sequence, db.getOrCreateSequence("s"));
    assertThrows(ReadOnlyDatabaseException.class, sequence::next);
    assertThrows(ReadOnlyDatabaseException.class, () -> sequence.next(LAZY));
    assertThrows(ReadOnlyDatabaseException.class, () -> db.getOrCreateSequence("new"));
    assertTrue(db.check().isSound());
  }

  @Test
  void next_ofAClosedDatabase_isRefused() {
    Sequence sequence = db.getOrCreateSequence("s");
    sequence.next(LAZY);
    db.close();
    assertThrows(DatabaseClosedException.class, () -> sequence.next(LAZY));
    assertThrows(DatabaseClosedException.class, () -> db.getOrCreateSequence("s"));
    assertThrows(DatabaseClosedException.class, () -> db.sequenceNames());
  }

  private void threadsDraw(SequenceOptions options, int each) throws InterruptedException {
    Sequence sequence = db.getOrCreateSequence("s" + options.cacheSize(), options);
    Set<Long> seen = ConcurrentHashMap.newKeySet();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      Durability durability = t < 4 ? LAZY : DURABLE;
      Runnable work =
          () -> {
            for (int i = 0; i < each; i++) {
              seen.add(sequence.next(durability));
            }
          };
      threads.add(t % 2 == 0 ? Thread.ofPlatform().start(work) : Thread.ofVirtual().start(work));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(8 * each, seen.size(), "some value came twice, or a thread failed");
    // Nothing is skipped: where no life ends there is no gap.
    assertEquals(8 * each, seen.stream().mapToLong(i -> i).max().orElseThrow());
  }

  @Test
  void next_ofManyThreads_givesEachValueOnce() throws InterruptedException {
    threadsDraw(BY_DEFAULT.withCacheSize(1), 200);
    threadsDraw(BY_DEFAULT.withCacheSize(2), 500);
    threadsDraw(BY_DEFAULT.withCacheSize(100), 5_000);
  }

  @Test
  void sequence_createdByManyThreads_isOne() throws InterruptedException {
    Set<Sequence> made = ConcurrentHashMap.newKeySet();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      threads.add(Thread.ofPlatform().start(() -> made.add(db.getOrCreateSequence("s"))));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(1, made.size());
    assertEquals(List.of("s"), db.sequenceNames());
  }
}
