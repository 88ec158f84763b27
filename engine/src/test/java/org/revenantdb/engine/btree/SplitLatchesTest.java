package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.testing.Await;

/**
 * What is latched while a writer waits. Many sessions wrote one table. The thread that split a leaf
 * was interrupted by the scheduler, and all others queued at the page above. It was handed over to
 * each of them, and each found that there was nothing to split any more. The next thread found it
 * latched again. For most of the time one thread at a time wrote the tree.
 */
class SplitLatchesTest {
  @TempDir Path directory;

  @Test
  void a_thread_that_waits_for_a_leaf_has_no_page_above_it_latched() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = twoFullLeaves(engine);
      int leaf = engine.pool.fixExclusive(leafOf(engine, tree, key(3)));
      FutureTask<Integer> waiting =
          new FutureTask<>(() -> tree.leafExclusive(key(3), new Descent()));
      Thread thread = started(waiting);
      awaitParked(thread);
      int parent = engine.pool.tryFixExclusive(tree.root());
      assertTrue(parent >= 0, "the root can be latched");
      engine.pool.unfixExclusive(parent);
      engine.pool.unfixExclusive(leaf);
      assertEquals(leaf, waiting.get());
    }
  }

  @Test
  void a_full_leaf_can_be_read_while_its_writer_waits_for_the_page_above() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = twoFullLeaves(engine);
      int leafId = leafOf(engine, tree, key(13));
      int root = engine.pool.fixShared(tree.root());
      TestEngine.Tx tx = engine.begin();
      FutureTask<RowWriter.Outcome> writing =
          new FutureTask<>(() -> tx.put(tree, key(90), new byte[900]));
      Thread thread = started(writing);
      awaitParked(thread);
      int leaf = engine.pool.tryFixExclusive(leafId);
      assertTrue(leaf >= 0, "the leaf can be latched");
      engine.pool.unfixExclusive(leaf);
      engine.pool.unfixShared(root);
      assertEquals(RowWriter.Outcome.DONE, writing.get());
      tx.commitDurably();
      engine.checkAllClean();
    }
  }

  @Test
  void a_full_leaf_in_the_middle_can_be_read_while_its_writer_waits_for_the_page_above()
      throws Exception {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = twoFullLeaves(engine);
      TestEngine.Tx filling = engine.begin();
      filling.put(tree, between(1), new byte[900]); // what was left free at the edge
      filling.commitDurably();
      int leafId = leafOf(engine, tree, key(3));
      int root = engine.pool.fixShared(tree.root());
      TestEngine.Tx tx = engine.begin();
      FutureTask<RowWriter.Outcome> writing =
          new FutureTask<>(() -> tx.put(tree, between(3), new byte[900]));
      awaitParked(started(writing));
      int leaf = engine.pool.tryFixExclusive(leafId);
      assertTrue(leaf >= 0, "the leaf can be latched");
      engine.pool.unfixExclusive(leaf);
      engine.pool.unfixShared(root);
      assertEquals(RowWriter.Outcome.DONE, writing.get());
      tx.commitDurably();
      engine.checkAllClean();
    }
  }

  @Test
  void a_full_leaf_at_the_right_edge_is_split_while_others_read_the_root() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 512)) {
      Tree tree = engine.table("t");
      TestEngine.Tx filling = engine.begin();
      int next = 0;
      while (levelOfRoot(engine, tree) < 2) {
        filling.put(tree, longKey(next++), new byte[900]);
      }
      int first = next;
      int root = engine.pool.fixShared(tree.root());
      long before = engine.storage.counters().splits.sum();
      FutureTask<Integer> appending =
          new FutureTask<>(() -> {
            int row = first;
            while (engine.storage.counters().splits.sum() == before) {
              filling.put(tree, longKey(row++), new byte[900]);
            }
            return row;
          });
      started(appending);
      assertTrue(appending.get() > first);
      engine.pool.unfixShared(root);
      filling.commitDurably();
      engine.checkAllClean();
    }
  }

  private static int levelOfRoot(TestEngine engine, Tree tree) {
    int root = engine.pool.fixShared(tree.root());
    try {
      return Slotted.level(engine.pool.page(root));
    } finally {
      engine.pool.unfixShared(root);
    }
  }

  /** A key whose separators are long too, so that the tree soon has a page above the parents. */
  private static byte[] longKey(int number) {
    return ByteBuffer.allocate(900).putInt(896, number).array();
  }

  @Test
  void a_writer_that_waited_while_another_split_the_leaf_splits_nothing() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = twoFullLeaves(engine);
      TestEngine.Tx first = engine.begin();
      TestEngine.Tx second = engine.begin();
      int root = engine.pool.fixShared(tree.root());
      FutureTask<RowWriter.Outcome> one =
          new FutureTask<>(() -> first.put(tree, key(90), new byte[900]));
      FutureTask<RowWriter.Outcome> other =
          new FutureTask<>(() -> second.put(tree, key(91), new byte[900]));
      awaitParked(started(one));
      awaitParked(started(other));
      long before = engine.storage.counters().splits.sum();
      engine.pool.unfixShared(root);
      assertEquals(RowWriter.Outcome.DONE, one.get());
      assertEquals(RowWriter.Outcome.DONE, other.get());
      assertEquals(1, engine.storage.counters().splits.sum() - before);
      first.commitDurably();
      second.commitDurably();
      engine.checkAllClean();
    }
  }

  @Test
  void a_file_without_a_free_page_grows_for_a_split_and_nothing_claimed_is_left_over() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = twoFullLeaves(engine);
      int pages = engine.storage.allocator().pages();
      while (engine.storage.allocator().claimBelow(Unit.NONE, pages) >= 0) {
        // until the file is full
      }
      int used = engine.used();
      TestEngine.Tx tx = engine.begin();
      assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key(90), new byte[900]));
      assertTrue(engine.storage.allocator().pages() > pages);
      assertEquals(used + 1, engine.used());
      tx.commitDurably();
    }
  }

  @Test
  void a_page_that_was_claimed_for_an_unneeded_split_is_free_again() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = twoFullLeaves(engine);
      int used = engine.used();
      Split split = splitter(engine);
      engine.storage.allocator().holdBack(); // somebody checks the database
      engine.pool.unfixExclusive(split.leafWithRoom(tree, key(3), /* need= */ 10));
      assertEquals(used, engine.used());
      assertEquals(0, engine.storage.allocator().heldBack());
      engine.storage.allocator().holdNoMore();
    }
  }

  /** A put failed with an exception of Java's: the page for the second split was not claimed. */
  @Test
  void a_leaf_whose_half_has_not_room_enough_yet_is_split_again() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = twoFullLeaves(engine);
      Split split = splitter(engine);
      long before = engine.storage.counters().splits.sum();
      int leaf = split.leafWithRoom(tree, key(3), /* need= */ 5_500);
      assertTrue(Slotted.free(engine.pool.page(leaf)) >= 5_500);
      engine.pool.unfixExclusive(leaf);
      assertTrue(engine.storage.counters().splits.sum() - before >= 2);
      engine.checkAllClean();
    }
  }

  private static Split splitter(TestEngine engine) {
    return engine.storage.splitter(
        new MiniTransaction(engine.pool, engine.journal), engine.storage.mapChanges());
  }

  private static Tree twoFullLeaves(TestEngine engine) {
    Tree tree = engine.table("t");
    TestEngine.Tx tx = engine.begin();
    for (int i = 0; i < 14; i++) {
      tx.put(tree, key(i), new byte[900]);
    }
    tx.commitDurably();
    return tree;
  }

  private static int leafOf(TestEngine engine, Tree tree, byte[] key) {
    int root = engine.pool.fixShared(tree.root());
    try {
      assertEquals(1, Slotted.level(engine.pool.page(root)));
      return Slotted.child(
          engine.pool.page(root), SlottedSearch.childPosition(engine.pool.page(root), key));
    } finally {
      engine.pool.unfixShared(root);
    }
  }

  private static Thread started(FutureTask<?> task) {
    Thread thread = new Thread(task);
    thread.start();
    return thread;
  }

  /** Waits until a thread waits for a latch. */
  private static void awaitParked(Thread thread) {
    while (thread.getState() != Thread.State.WAITING
        && thread.getState() != Thread.State.TIMED_WAITING) {
      assertTrue(thread.isAlive(), "it did not wait");
      Await.pause();
    }
  }

  private static byte[] between(int number) {
    return "key%06d+".formatted(number).getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] key(int number) {
    return "key%06d".formatted(number).getBytes(StandardCharsets.UTF_8);
  }
}
