package org.revenantdb.engine.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.session.OperationGate;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.testing.Await;

/**
 * A check sees the database as it was when it began, whatever happens between two pages that it
 * reads: it counts the same as an undisturbed check, and finds nothing wrong.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices; there is one thread, so that is the whole run.
 */
class LiveCheckTest {
  private static final int KEYS = 400;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  private static byte[] key(int i) {
    return ("common/prefix/%06d".formatted(i)).getBytes();
  }

  /** One transaction of any kind, or a pass of the cleaner. */
  private void disturb(TestEngine engine, Tree tree) {
    if (random.nextInt(5) == 0) {
      engine.journal.force();
      engine.pass();
      return;
    }
    TestEngine.Tx tx = engine.begin();
    boolean range = random.nextInt(4) == 0;
    int first = random.nextInt(KEYS);
    for (int i = first; i < (range ? first + 60 : first + 1); i++) {
      switch (random.nextInt(range ? 2 : 4)) {
        case 0 -> tx.delete(tree, key(i));
        case 1 -> tx.put(tree, key(i), new byte[random.nextInt(900)]);
        case 2 -> tx.put(tree, key(i), new byte[random.nextInt(60_000)]);
        default -> tx.putStream(tree, key(i), new byte[random.nextInt(200_000)]);
      }
    }
    if (random.nextInt(4) == 0) {
      tx.abort();
    } else {
      tx.commit();
    }
  }

  @Test
  @Tag("slow")
  void a_check_counts_what_there_was_at_its_beginning_whatever_changes_between_two_pages() {
    System.out.println("LiveCheckTest -Drevenant.seed=" + seed);
    for (int round = 0; round < 3; round++) {
      try (TestEngine engine = new TestEngine(directory, 200)) {
        Tree tree = engine.table("t");
        engine.table("u");
        TestEngine.Tx snapshot = engine.begin();
        for (int i = 0; i < 100; i++) {
          disturb(engine, tree);
          if (i == 50) {
            snapshot.abort();
            snapshot = engine.begin();
          }
        }
        TestEngine.Tx undecided = engine.begin();
        undecided.put(tree, key(KEYS + 1), new byte[100]);
        undecided.put(tree, key(KEYS + 2), new byte[50_000]);
        CheckReport before = engine.check();
        int often = 1 + random.nextInt(6);
        AtomicInteger pages = new AtomicInteger();
        LiveCheck live =
            new LiveCheck(
                engine.engine,
                () -> {
                  if (pages.getAndIncrement() % often == 0) {
                    disturb(engine, tree);
                  }
                  if (pages.get() == 20) {
                    undecided.abort();
                    engine.table("made during the check");
                  }
                });
        CheckReport report = live.run();
        assertEquals(List.of(), report.problems(), "seed " + seed);
        assertEquals(List.of(), report.warnings(), "seed " + seed);
        assertEquals(before, report, "seed " + seed);
        snapshot.abort();
        engine.checkAllClean();
      }
    }
  }

  /** Fills the bound on copies, and sees that others wait until the check has ended. */
  @Test
  void when_too_much_changes_others_wait_for_the_end_of_the_check() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 200)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 6_000; i++) {
        put(engine, tree, i);
      }
      CheckReport before = engine.check();
      assertTrue(before.treePages() > 300, "too few pages for the bound");
      AtomicInteger pages = new AtomicInteger();
      AtomicInteger enteredAt = new AtomicInteger();
      Thread other =
          Thread.ofPlatform()
              .unstarted(() -> {
                int stripe = engine.engine.gate().enter();
                enteredAt.set(pages.get());
                engine.engine.gate().exit(stripe);
              });
      LiveCheck live =
          new LiveCheck(
              engine.engine,
              () -> {
                switch (pages.getAndIncrement()) {
                  case 1 -> {
                    int stripe = engine.engine.gate().enter(); // nobody is kept out yet
                    for (int i = 0; i < 6_000; i++) {
                      put(engine, tree, i);
                    }
                    engine.engine.gate().exit(stripe);
                  }
                  case 4 -> {
                    other.start();
                    while (other.getState() != Thread.State.WAITING) {
                      assertTrue(other.isAlive(), "nobody was kept out");
                      Await.pause();
                    }
                  }
                  default -> {}
                }
              });
      assertEquals(before, live.run());
      other.join();
      assertEquals(pages.get(), enteredAt.get(), "before the last page was looked at");
      engine.checkAllClean();
    }
  }

  /** Its pages filled the bound on copies, and all had to wait for the end of the check. */
  @Test
  void a_dropped_table_is_freed_when_no_check_looks_at_its_pages_any_more() {
    try (TestEngine engine = new TestEngine(directory, 200)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 500; i++) {
        put(engine, tree, i);
      }
      engine.checkAllClean();
      CheckReport before = engine.check();
      AtomicInteger pages = new AtomicInteger();
      LiveCheck live =
          new LiveCheck(
              engine.engine,
              () -> {
                if (pages.getAndIncrement() == 1) {
                  assertEquals(Catalog.Dropped.DONE, engine.catalog.drop(engine.catalog.find("t")));
                  engine.journal.force();
                  engine.pass();
                  assertEquals(0, engine.storage.allocator().heldBack());
                }
              });
      assertEquals(before, live.run());
      assertEquals(1, engine.checkAllClean().treePages(), "the catalogue alone is left");
    }
  }

  private static void put(TestEngine engine, Tree tree, int i) {
    TestEngine.Tx tx = engine.begin();
    tx.put(tree, key(i), new byte[500]);
    tx.commit();
  }

  @Test
  void a_close_ends_the_check_and_waits_until_it_is_out() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 200)) {
      engine.table("t");
      OperationGate gate = engine.engine.gate();
      AtomicInteger pages = new AtomicInteger();
      AtomicBoolean closed = new AtomicBoolean();
      Thread closing =
          Thread.ofPlatform()
              .unstarted(() -> {
                gate.close();
                closed.set(true);
              });
      LiveCheck live =
          new LiveCheck(
              engine.engine,
              () -> {
                if (pages.getAndIncrement() == 3) {
                  closing.start();
                  while (!gate.isClosed()) {
                    Await.pause();
                  }
                  assertFalse(closed.get(), "the check is still inside");
                }
              });
      assertThrows(DatabaseClosedException.class, live::run);
      closing.join();
      assertEquals(4, pages.get());
    }
  }

  @Test
  void the_file_keeps_its_end_while_a_check_looks_at_it() {
    try (TestEngine engine = new TestEngine(directory, 200)) {
      put(engine, engine.table("t"), 1);
      var allocator = engine.storage.allocator();
      int pages = allocator.pages();
      new LiveCheck(engine.engine, () -> assertEquals(pages, allocator.fence())).run();
      assertTrue(allocator.fence() < pages, "nothing could be cut afterwards");
    }
  }

  @Test
  void the_copies_of_a_check_fit_into_a_heap_that_is_smaller_than_the_pool() {
    assertEquals(2048, FrozenDatabase.mostCopies(16_384, 1 << 20));
    assertEquals(1536, FrozenDatabase.mostCopies(131_072, 24_576));
    assertEquals(256, FrozenDatabase.mostCopies(131_072, 2048));
  }
}
