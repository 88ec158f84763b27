package org.revenantdb.engine.txn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** Ids in blocks (docs/protocols.md §7). */
class TransactionIdsTest implements TransactionIds.Outcomes {
  private static final int BLOCK = TransactionIds.BLOCK;

  private final BitSet unused = new BitSet();

  /** When it has come to 0 there is no room for one more block. */
  private int untilFull;

  private TransactionIds ids(long first) {
    return new TransactionIds(first, this);
  }

  @Override
  public void makeRoom(long first) {
    if (--untilFull == 0) {
      throw new OutOfMemoryError("asked for");
    }
  }

  @Override
  public void unused(long from, long end) {
    synchronized (unused) {
      for (long id = from; id < end; id++) {
        assertTrue(!unused.get((int) id), "given up once");
        unused.set((int) id);
      }
    }
  }

  @Test
  void next_oneThread_oneAfterTheOtherThroughTheBlocks() {
    for (long first : new long[] {1, 7, BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1}) {
      TransactionIds ids = ids(first);
      assertEquals(first, ids.end());
      for (long id = first; id < first + 3 * BLOCK; id++) {
        assertEquals(id, ids.next(0));
        assertTrue(id < ids.end());
      }
    }
    assertTrue(unused.isEmpty());
  }

  @Test
  void next_twoStripes_eachOfItsOwnBlock() {
    TransactionIds ids = ids(BLOCK);
    assertEquals(BLOCK, ids.next(0));
    assertEquals(2 * BLOCK, ids.next(1));
    assertEquals(BLOCK + 1, ids.next(0));
    assertEquals(2 * BLOCK + 1, ids.next(1));
    assertEquals(3 * BLOCK, ids.end());
  }

  @Test
  void takeBack_onlyBlocksThatLieBelow_whatIsLeftOfThemIsUnused() {
    TransactionIds ids = ids(BLOCK);
    ids.next(0);
    ids.next(1);
    ids.takeBack(2 * BLOCK - 1);
    assertTrue(unused.isEmpty(), "no block ends there");
    ids.takeBack(2 * BLOCK);
    assertEquals(BLOCK + 1, unused.nextSetBit(0));
    assertEquals(2 * BLOCK, unused.nextClearBit(BLOCK + 1));
    assertEquals(BLOCK - 1, unused.cardinality());
    assertEquals(3 * BLOCK, ids.next(0), "a new block");
    assertEquals(2 * BLOCK + 1, ids.next(1));
    ids.takeBack(2 * BLOCK);
    assertEquals(BLOCK - 1, unused.cardinality());
  }

  @Test
  void takeBack_ofABlockWithNothingLeft_givesNothingUp() {
    TransactionIds ids = ids(BLOCK);
    for (int i = 0; i < BLOCK; i++) {
      ids.next(0);
    }
    ids.takeBack(Long.MAX_VALUE);
    assertTrue(unused.isEmpty());
    assertEquals(2 * BLOCK, ids.next(0));
  }

  @Test
  void next_withoutMemoryForABlock_failsAndLosesNoId() {
    TransactionIds ids = ids(BLOCK);
    untilFull = 1;
    assertThrows(OutOfMemoryError.class, () -> ids.next(0));
    assertEquals(BLOCK, ids.end());
    assertEquals(BLOCK, ids.next(0));
  }

  @Test
  void everyIdIsGivenOutOnceOrIsUnused_threadsOfOneStripeAndOfOthersBesideTakeBack()
      throws Exception {
    int threads = 6;
    int each = 40_000;
    TransactionIds ids = ids(BLOCK + 5);
    List<FutureTask<BitSet>> tasks = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int stripe = t / 2; // two of each
      tasks.add(
          start(() -> {
            BitSet own = new BitSet();
            for (int i = 0; i < each; i++) {
              own.set((int) ids.next(stripe));
            }
            return own;
          }));
    }
    while (!tasks.stream().allMatch(FutureTask::isDone)) {
      ids.takeBack(ids.end()); // those in use, too
      Thread.onSpinWait();
    }
    ids.takeBack(ids.end());
    BitSet all = new BitSet();
    for (FutureTask<BitSet> task : tasks) {
      BitSet given = result(task);
      assertEquals(each, given.cardinality(), "of a thread's own none came twice");
      assertTrue(!all.intersects(given), "none was given to two");
      all.or(given);
    }
    assertTrue(!all.intersects(unused), "none that was given out is unused");
    all.or(unused);
    assertEquals(BLOCK + 5, all.nextSetBit(0));
    assertEquals(ids.end(), all.nextClearBit(BLOCK + 5), "none is missing");
  }

  private static FutureTask<BitSet> start(Callable<BitSet> call) {
    FutureTask<BitSet> task = new FutureTask<>(call);
    Thread.ofPlatform().start(task);
    return task;
  }

  private static BitSet result(FutureTask<BitSet> task) throws InterruptedException {
    try {
      return task.get();
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
  }
}
