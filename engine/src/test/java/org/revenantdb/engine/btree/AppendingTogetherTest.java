package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.change.StopAfterPublish;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.testing.Await;

/**
 * Rows with growing keys from many threads: the thread that holds the last leaf inserts the rows of
 * the waiting threads (R22).
 */
class AppendingTogetherTest {
  @TempDir Path directory;

  private static byte[] key(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  private static byte[] value(long number) {
    return ("row " + number).getBytes();
  }

  /** Stores a row in a thread of its own. */
  private static final class Insert {
    private final TestEngine.Tx tx;
    private final CompletableFuture<RowWriter.Outcome> outcome = new CompletableFuture<>();
    private final Thread thread;

    Insert(TestEngine engine, Tree tree, long number, byte[] value) {
      this(engine.begin(), tree, number, value);
    }

    Insert(TestEngine.Tx tx, Tree tree, long number, byte[] value) {
      this.tx = tx;
      thread =
          new Thread(() -> {
            try {
              outcome.complete(tx.put(tree, key(number), value));
            } catch (Throwable failure) {
              outcome.completeExceptionally(failure);
            }
          });
    }

    /** Waits until its thread waits for the leaf. */
    void awaitParked() {
      while (thread.getState() != Thread.State.WAITING
          && thread.getState() != Thread.State.TIMED_WAITING) {
        Await.pause();
      }
    }
  }

  /** A table with one row, whose leaf has its version bit. */
  private static Tree started(TestEngine engine) {
    Tree tree = engine.table("t");
    TestEngine.Tx first = engine.begin();
    first.put(tree, key(0), value(0));
    first.commitDurably();
    return tree;
  }

  @Test
  void R22_the_holder_of_the_leaf_inserts_the_row_of_who_waits_under_that_ones_transaction() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      Insert holder = new Insert(engine, tree, 1, value(1));
      Insert waiting = new Insert(engine, tree, 2, value(2));
      int before = engine.journal.entries().size();
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, holder.thread)) {
        holder.thread.start();
        stop.awaitArrival();
        waiting.thread.start();
        waiting.awaitParked();
        stop.letGo();
        assertEquals(RowWriter.Outcome.DONE, holder.outcome.join());
        assertEquals(RowWriter.Outcome.DONE, waiting.outcome.join());
        assertEquals(Set.of(holder.thread), stop.passed(), "one thread has done both");
      }
      List<MemoryJournal.Entry> records = engine.journal.entries().subList(before, before + 2);
      assertEquals(holder.tx.id, records.get(0).transaction());
      assertEquals(waiting.tx.id, records.get(1).transaction());
      holder.tx.abort();
      waiting.tx.commitDurably();
      assertEquals(null, engine.read(tree, key(1)));
      assertArrayEquals(value(2), engine.read(tree, key(2)));
      engine.checkAllClean();
    }
  }

  @Test
  void R22_a_row_for_which_there_is_no_room_is_inserted_by_its_own_thread() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      Insert holder = new Insert(engine, tree, 1, new byte[900]);
      TestEngine.Tx filling = engine.begin();
      for (int i = 2; i < 8; i++) {
        filling.put(tree, key(i), new byte[890]);
      }
      Insert waiting = new Insert(engine, tree, 8, new byte[900]);
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, holder.thread)) {
        holder.thread.start();
        stop.awaitArrival();
        waiting.thread.start();
        waiting.awaitParked();
      }
      assertEquals(RowWriter.Outcome.DONE, holder.outcome.join());
      assertEquals(RowWriter.Outcome.DONE, waiting.outcome.join());
      for (TestEngine.Tx tx : List.of(holder.tx, filling, waiting.tx)) {
        tx.commitDurably();
      }
      for (int i = 1; i < 9; i++) {
        assertEquals(i == 1 || i == 8 ? 900 : 890, engine.read(tree, key(i)).length);
      }
      engine.checkAllClean();
    }
  }

  @Test
  void R22_a_leaf_that_was_split_meanwhile_takes_no_row_that_is_not_its_own_any_more() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      TestEngine.Tx writer = engine.begin();
      for (int i = 1; i < 15; i++) { // two leaves that are full
        writer.put(tree, key(i), new byte[890]); // it knows the last one from now on
      }
      Insert splitting = new Insert(engine, tree, 15, new byte[890]);
      Insert waiting = new Insert(writer, tree, 16, value(16));
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, splitting.thread)) {
        splitting.thread.start();
        stop.awaitArrival();
        waiting.thread.start();
        waiting.awaitParked();
      }
      assertEquals(RowWriter.Outcome.DONE, splitting.outcome.join());
      assertEquals(RowWriter.Outcome.DONE, waiting.outcome.join());
      writer.commitDurably();
      splitting.tx.commitDurably();
      assertEquals(890, engine.read(tree, key(15)).length);
      assertArrayEquals(value(16), engine.read(tree, key(16)));
      engine.checkAllClean();
    }
  }

  /** A leaf that was merged into its neighbour keeps its bytes, and its fences hold the key. */
  @Test
  void R22_a_leaf_that_was_merged_away_meanwhile_takes_no_row() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      TestEngine.Tx filling = engine.begin();
      for (int i = 1; i < 11; i++) { // two leaves
        filling.put(tree, key(i), new byte[890]);
      }
      filling.commitDurably();
      TestEngine.Tx emptying = engine.begin();
      for (int i = 4; i < 11; i++) {
        emptying.delete(tree, key(i));
      }
      emptying.commitDurably();
      TestEngine.Tx writer = engine.begin();
      writer.put(tree, key(11), value(11)); // it knows the last leaf from now on
      Insert waiting = new Insert(writer, tree, 12, value(12));
      Thread cleaning = new Thread(engine::pass);
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, cleaning, Merge.class)) {
        cleaning.start();
        stop.awaitArrival();
        waiting.thread.start();
        waiting.awaitParked();
      }
      assertEquals(RowWriter.Outcome.DONE, waiting.outcome.join());
      join(cleaning);
      writer.commitDurably();
      assertArrayEquals(value(11), engine.read(tree, key(11)));
      assertArrayEquals(value(12), engine.read(tree, key(12)));
      engine.checkAllClean();
    }
  }

  @Test
  void after_its_row_was_inserted_by_another_thread_a_writer_needs_no_descent_for_the_next() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      TestEngine.Tx filling = engine.begin();
      for (int i = 1; i < 11; i++) { // two leaves
        filling.put(tree, key(i), new byte[890]);
      }
      filling.commitDurably();
      Insert holder = new Insert(engine, tree, 11, value(11));
      Insert waiting = new Insert(engine, tree, 12, value(12));
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, holder.thread)) {
        holder.thread.start();
        stop.awaitArrival();
        waiting.thread.start();
        waiting.awaitParked();
        stop.letGo();
        assertEquals(RowWriter.Outcome.DONE, waiting.outcome.join());
        assertEquals(Set.of(holder.thread), stop.passed(), "one thread has done both");
      }
      Insert next = new Insert(waiting.tx, tree, 13, value(13));
      int root = tree.rootExclusive();
      try {
        next.thread.start();
        while (!next.outcome.isDone() && next.thread.getState() != Thread.State.TIMED_WAITING) {
          Await.pause();
        }
        assertTrue(next.outcome.isDone(), "it waits for the root");
      } finally {
        engine.pool.unfixExclusive(root);
      }
      assertEquals(RowWriter.Outcome.DONE, next.outcome.join());
      assertEquals(RowWriter.Outcome.DONE, holder.outcome.join());
      holder.tx.commitDurably();
      waiting.tx.commitDurably();
      assertArrayEquals(value(13), engine.read(tree, key(13)));
      engine.checkAllClean();
    }
  }

  @Test
  void a_writer_that_is_new_at_the_right_edge_also_splits_the_full_leaf_from_the_root() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      TestEngine.Tx filling = engine.begin();
      for (int i = 1; i < 15; i++) { // two leaves that are full
        filling.put(tree, key(i), new byte[890]);
      }
      Insert holder = new Insert(filling, tree, 14, new byte[890]);
      Insert waiting = new Insert(engine, tree, 15, new byte[890]);
      assertEquals("fromRoot", wayToSplit(engine, tree, holder, waiting));
      for (TestEngine.Tx tx : List.of(filling, waiting.tx)) {
        tx.commitDurably();
      }
      assertEquals(890, engine.read(tree, key(15)).length);
      engine.checkAllClean();
    }
  }

  @Test
  void a_writer_that_comes_from_the_right_edge_does_not_split_another_leaf_from_the_root() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      TestEngine.Tx filling = engine.begin();
      for (int i = 1; i < 15; i++) { // two leaves that are full
        filling.put(tree, key(2 * i), new byte[890]);
      }
      filling.put(tree, key(3), new byte[890]); // now the left one has no room for versions either
      TestEngine.Tx writer = engine.begin();
      writer.put(tree, key(100), value(100)); // it knows the last one from now on
      Insert holder = new Insert(filling, tree, 4, new byte[890]);
      Insert waiting = new Insert(writer, tree, 5, new byte[890]);
      String way = wayToSplit(engine, tree, holder, waiting);
      assertTrue(Set.of("belowParent", "awaitWriter").contains(way), way);
      for (TestEngine.Tx tx : List.of(filling, writer)) {
        tx.commitDurably();
      }
      assertEquals(890, engine.read(tree, key(5)).length);
      engine.checkAllClean();
    }
  }

  @Test
  void two_rows_that_come_in_the_other_order_split_a_full_leaf_once() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      TestEngine.Tx filling = engine.begin();
      for (int i = 1; i < 15; i++) { // two leaves that are full
        filling.put(tree, key(i), new byte[890]);
      }
      filling.commitDurably();
      long before = engine.storage.counters().splits.sum();
      Insert first = new Insert(engine, tree, 20, new byte[890]);
      Insert second = new Insert(engine, tree, 19, new byte[890]); // belongs to the left half
      int root = tree.unit().fixRootShared(engine.pool);
      try {
        for (Insert insert : List.of(first, second)) { // the root serves them in this order
          insert.thread.start();
          assertEquals("leafWithRoomFromRoot", awaitSplit(insert, Set.of("leafWithRoomFromRoot")));
          insert.awaitParked();
        }
      } finally {
        engine.pool.unfixShared(root);
      }
      for (Insert insert : List.of(first, second)) {
        assertEquals(RowWriter.Outcome.DONE, insert.outcome.join());
        insert.tx.commitDurably();
      }
      assertEquals(1, engine.storage.counters().splits.sum() - before);
      assertEquals(890, engine.read(tree, key(19)).length);
      engine.checkAllClean();
    }
  }

  /**
   * Where a writer waits for the root that waited for a leaf which turns out to be full.
   *
   * @param holder writes to the leaf meanwhile
   */
  private static String wayToSplit(TestEngine engine, Tree tree, Insert holder, Insert waiting) {
    String way;
    try (StopAfterPublish stop = new StopAfterPublish(engine.journal, holder.thread)) {
      holder.thread.start();
      stop.awaitArrival();
      int root = tree.unit().fixRootShared(engine.pool);
      try {
        waiting.thread.start();
        waiting.awaitParked();
        stop.letGo();
        way = awaitSplit(waiting, Set.of("fromRoot", "belowParent", "awaitWriter"));
      } finally {
        engine.pool.unfixShared(root);
      }
    }
    assertEquals(RowWriter.Outcome.DONE, holder.outcome.join());
    assertEquals(RowWriter.Outcome.DONE, waiting.outcome.join());
    return way;
  }

  /** The method in which an insert gets to the page above a full leaf. */
  private static String awaitSplit(Insert insert, Set<String> ways) {
    while (!insert.outcome.isDone()) {
      for (StackTraceElement frame : insert.thread.getStackTrace()) {
        if (ways.contains(frame.getMethodName())) {
          return frame.getMethodName();
        }
      }
      Await.pause();
    }
    return "it was not split";
  }

  /** The leaf as another object for the tree finds it, which has no hint yet. */
  @Test
  void an_appended_row_leaves_the_hint_also_if_its_writer_came_by_a_descent() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      Tree other = new Tree(engine.pool, tree.table(), tree.root());
      TestEngine.Tx tx = engine.begin();
      tx.put(tree, key(1), value(1)); // it is at the right edge from now on
      tx.put(other, key(2), value(2));
      int leaf = engine.pool.fixShared(tree.root());
      try {
        assertTrue(other.isRightEdge(engine.pool.stayOf(leaf)));
      } finally {
        engine.pool.unfixShared(leaf);
      }
      tx.commitDurably();
      engine.checkAllClean();
    }
  }

  @Test
  void a_root_that_splits_leaves_the_right_half_as_the_hint() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = started(engine);
      TestEngine.Tx tx = engine.begin();
      for (int i = 1; i < 8; i++) {
        tx.put(tree, key(i), new byte[890]);
      }
      tx.commitDurably();
      Split split =
          engine.storage.splitter(
              new MiniTransaction(engine.pool, engine.journal), engine.storage.mapChanges());
      engine.pool.unfixExclusive(split.leafWithRoom(tree, key(0), /* need= */ 3_000));
      int last = tree.leafExclusive(key(7), new Descent());
      try {
        assertTrue(tree.isRightEdge(engine.pool.stayOf(last)));
      } finally {
        engine.pool.unfixExclusive(last);
      }
      engine.checkAllClean();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted in a test", e);
    }
  }

  @Test
  void all_rows_of_many_threads_are_there_and_those_of_aborted_transactions_are_not() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      AtomicLong next = new AtomicLong();
      int threads = 8;
      int each = 400;
      CompletableFuture.allOf(
              IntStream.range(0, threads)
                  .mapToObj(thread ->
                      CompletableFuture.runAsync(() -> {
                        for (int i = 0; i < each; i++) {
                          append(engine, tree, next.getAndIncrement());
                        }
                      }))
                  .toArray(CompletableFuture[]::new))
          .join();
      for (long number = 0; number < threads * each; number++) {
        byte[] found = engine.read(tree, key(number));
        assertTrue(
            number % 10 == 7 ? found == null : java.util.Arrays.equals(value(number), found),
            "row " + number);
      }
      engine.checkAllClean();
    }
  }

  private static void append(TestEngine engine, Tree tree, long number) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key(number), value(number)));
    if (number % 10 == 7) {
      tx.abort();
    } else {
      tx.commitDurably();
    }
  }
}
