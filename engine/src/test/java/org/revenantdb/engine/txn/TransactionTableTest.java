package org.revenantdb.engine.txn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.restart.AbortedTransactions;

class TransactionTableTest {
  private static final int CHUNK = 4096;

  private final AbortedTransactions aborted = new AbortedTransactions();

  private TransactionTable table(long highestId) {
    return new TransactionTable(aborted, highestId);
  }

  private static void commit(TransactionTable table, int count, long lsn) {
    for (int i = 0; i < count; i++) {
      long id = table.enter();
      table.committing(id);
      table.committed(id, lsn);
    }
  }

  @Test
  void status_ofEachState() {
    TransactionTable table = table(17);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(0));
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(17));
    aborted.add(16);
    assertEquals(TransactionTable.ABORTED, table.status(16));
    long id = table.enter();
    assertEquals(18, id);
    assertEquals(TransactionTable.ACTIVE, table.status(id));
    assertFalse(TransactionTable.isCommitted(table.status(id)));
    table.committing(id);
    assertEquals(TransactionTable.COMMITTING, table.status(id));
    table.committed(id, 4242);
    assertEquals(4242, table.outcome(id));
    assertTrue(TransactionTable.isCommitted(4242));
    long other = table.enter();
    aborted.add(other);
    table.aborted(other);
    assertEquals(TransactionTable.ABORTED, table.status(other));
  }

  @Test
  void outcome_waitsForOneThatCommits() {
    TransactionTable table = table(0);
    long id = table.enter();
    table.committing(id);
    CompletableFuture<Long> outcome = CompletableFuture.supplyAsync(() -> table.outcome(id));
    CompletableFuture<long[]> writing = CompletableFuture.supplyAsync(table::writing);
    assertFalse(outcome.isDone());
    table.committed(id, 100);
    assertEquals(100, outcome.join());
    assertArrayEquals(new long[0], writing.join());
  }

  @Test
  void writing_andOldestActive_overManyChunks() {
    TransactionTable table = table(CHUNK - 3);
    assertEquals(Long.MAX_VALUE, table.oldestActive());
    List<Long> active = new ArrayList<>();
    Random random = new Random(5);
    for (int i = 0; i < 5 * CHUNK; i++) {
      long id = table.enter();
      if (random.nextInt(300) == 0) {
        active.add(id);
      } else {
        table.committed(id, 10 + i);
      }
    }
    assertArrayEquals(active.stream().mapToLong(i -> i).toArray(), table.writing());
    assertEquals(active.getFirst(), table.oldestActive());
    table.forget(Long.MAX_VALUE);
    assertArrayEquals(active.stream().mapToLong(i -> i).toArray(), table.writing());
  }

  @Test
  void forget_keepsWhatASnapshotTellsApart() {
    TransactionTable table = table(CHUNK - 1);
    commit(table, CHUNK - 1, 50);
    long last = table.enter();
    table.committed(last, 90);
    commit(table, 2 * CHUNK, 60);
    table.forget(89);
    assertEquals(90, table.status(last));
    assertEquals(50, table.status(CHUNK));
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(last + 1));
    table.forget(90);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(last));
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(CHUNK));
  }

  @Test
  void forget_leavesTheAbortedToTheMap() {
    TransactionTable table = table(CHUNK - 1);
    long id = table.enter();
    aborted.add(id);
    table.aborted(id);
    commit(table, 2 * CHUNK, 60);
    table.forget(100);
    assertEquals(TransactionTable.ABORTED, table.status(id));
    aborted.remove(id);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(id));
  }

  @Test
  void forget_ofTheFirstChunkWithIdsOfAFormerLife() {
    TransactionTable table = table(CHUNK + 1000);
    commit(table, CHUNK, 60);
    table.forget(60);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(CHUNK + 1001));
    assertEquals(60, table.status(2 * CHUNK), "its chunk is not yet full");
  }

  @Test
  void a_thread_that_was_slow_to_enter_its_id_finds_the_table_after_thousands_of_later_ones() {
    // The slow id is the first of its chunk, which nobody has made yet when a later one is made:
    // that must not look like a chunk that was forgotten.
    TransactionTable table = table(CHUNK - 1);
    commit(table, CHUNK, 50);
    long slow = table.next();
    assertEquals(2 * CHUNK, slow);
    for (int i = 1; i < CHUNK; i++) {
      table.next();
    }
    commit(table, CHUNK + 1, 60);
    table.forget(100);
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(CHUNK));
    table.enter(slow);
    assertEquals(TransactionTable.ACTIVE, table.status(slow));
    assertEquals(slow, table.oldestActive());
    table.forget(100);
    table.committing(slow);
    table.committed(slow, 70);
    assertEquals(70, table.status(slow));
  }

  @Test
  void enter_byManyThreadsWhileAnotherForgets() {
    TransactionTable table = table(7);
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < 4; t++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int i = 0; i < 20_000; i++) {
                    long id = table.enter();
                    table.committing(id);
                    table.committed(id, 100 + id);
                  }
                } catch (Throwable e) {
                  failures.add(e);
                }
              }));
    }
    while (threads.stream().anyMatch(Thread::isAlive)) {
      table.forget(100 + table.highestId() / 2);
    }
    assertEquals(List.of(), failures);
    assertEquals(80_007, table.highestId());
    assertArrayEquals(new long[0], table.writing());
  }
}
