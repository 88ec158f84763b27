package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.put;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.LeakedTransaction;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.testing.Allocations;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.testing.Await;

/**
 * A transaction that is not used between its begin and its end. It is one object. Its user, the
 * sweep, or the end of the database ends it, and its slot is freed exactly once (docs/protocols.md
 * §38).
 */
class UnusedTransactionTest {
  private static final List<Consumer<Transaction>> ENDS =
      List.of(Transaction::commit, Transaction::rollback, Transaction::close);

  @TempDir private Path folder;

  @Test
  void begin_and_commit_allocate_one_object() throws ReflectiveOperationException {
    try (Database db = Samples.open(folder.resolve("db"))) {
      int rounds = 20_000;
      beginAndCommit(db, rounds); // what is made once is made
      long bytes = Allocations.by(() -> beginAndCommit(db, rounds));
      assertTrue(bytes <= 56L * rounds, () -> (double) bytes / rounds + " bytes for each");
    }
  }

  private static void beginAndCommit(Database db, int rounds) {
    for (int i = 0; i < rounds; i++) {
      db.begin().commit();
    }
  }

  @Test
  void after_its_end_it_reports_how_it_has_ended_and_belongs_to_no_other_transaction() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Table table = engine.table("t", TableOptions.defaults());
      for (Consumer<Transaction> end : ENDS) {
        Transaction stale = engine.transaction();
        end.accept(stale);
        Transaction next = engine.transaction(); // in the same slot, as the thread is the same
        assertRefused(
            TransactionStateException.Reason.FINISHED, () -> stale.get(table, bytes("k")), "used");
        assertRefused(TransactionStateException.Reason.FINISHED, stale::commit, "twice");
        stale.rollback();
        stale.close();
        assertEquals(1, engine.snapshots.active(), "the next one has its slot");
        assertNull(next.get(table, bytes("k")));
        next.commit();
        assertEquals(0, engine.snapshots.active());
        assertTrue(engine.engine.open().cores().isEmpty());
      }
    }
  }

  @Test
  void a_committed_one_is_durable() {
    try (Database db = Samples.open(folder.resolve("db"))) {
      Transaction tx = db.begin();
      tx.commit();
      assertTrue(tx.whenDurable().toCompletableFuture().isDone());
      assertTrue(db.begin().commitAsync().toCompletableFuture().isDone());
      try (Transaction rolledBack = db.begin()) {
        rolledBack.rollback();
        assertThrows(IllegalStateException.class, rolledBack::whenDurable);
      }
    }
  }

  @Test
  void one_that_was_swept_ends_as_any_other() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      for (Consumer<Transaction> end : ENDS) {
        Transaction tx = engine.transaction();
        engine.engine.open().sweep();
        assertEquals(1, engine.engine.open().cores().size(), "it is watched");
        end.accept(tx);
        assertEquals(0, engine.snapshots.active());
        engine.engine.open().sweep();
        assertTrue(engine.engine.open().cores().isEmpty());
        assertRefused(TransactionStateException.Reason.FINISHED, tx::commit);
      }
    }
  }

  /** The sweep has taken the entry of a transaction that ends before it can be watched. */
  @Test
  void one_that_ends_while_it_is_swept_is_not_watched() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Transaction tx = engine.transaction();
      tx.commit();
      assertNull(ApiAccess.api().openCore(tx));
      Transaction used = engine.transaction();
      assertEquals(ApiAccess.api().core(used), ApiAccess.api().openCore(used));
      used.commit();
      assertNull(ApiAccess.api().openCore(used));
    }
  }

  @Test
  void the_end_of_the_database_ends_those_that_were_never_used_too() {
    Database db = Samples.open(folder.resolve("db"));
    put(db, "t", "k", "v");
    Table table = db.getOrCreateTable("t");
    Transaction unused = db.begin();
    Transaction used = db.begin();
    assertArrayEquals(bytes("v"), used.get(table, bytes("k")));
    db.close();
    for (Transaction tx : List.of(unused, used)) {
      assertThrows(DatabaseClosedException.class, tx::commit);
      assertThrows(DatabaseClosedException.class, () -> tx.get(table, bytes("k")));
      tx.close();
    }
  }

  /** Sweeps and uses all the time, of transactions that begin and end: each gives its slot back. */
  @Test
  void many_that_are_swept_while_they_end_all_give_their_slots_back() throws Exception {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      AtomicBoolean ended = new AtomicBoolean();
      List<FutureTask<Boolean>> tasks = new ArrayList<>();
      for (int thread = 0; thread < 2; thread++) {
        tasks.add(
            new FutureTask<>(() -> {
              for (int i = 0; i < 100_000; i++) {
                ENDS.get(i % ENDS.size()).accept(engine.transaction());
              }
              return true;
            }));
      }
      FutureTask<Boolean> sweeps =
          new FutureTask<>(() -> {
            while (!ended.get()) {
              engine.engine.open().sweep();
            }
            return true;
          });
      Thread.ofPlatform().daemon().start(sweeps);
      tasks.forEach(task -> Thread.ofPlatform().daemon().start(task));
      try {
        for (FutureTask<Boolean> task : tasks) {
          assertTrue(task.get());
        }
      } finally {
        ended.set(true);
      }
      assertTrue(sweeps.get());
      assertEquals(0, engine.snapshots.active());
      assertFalse(engine.engine.open().cores().stream().anyMatch(TransactionCore::isOpen));
    }
  }

  /** Two at a time want to end the same one, or to watch it: it ends once, and stays ended. */
  @Test
  void two_threads_that_end_it_at_once_end_it_only_once() throws Exception {
    List<Consumer<Transaction>> others =
        List.of(Transaction::rollback, ApiAccess.api()::openCore, ApiAccess.api()::databaseCloses);
    try (TestEngine engine = new TestEngine(folder, 64)) {
      AtomicReference<@Nullable Transaction> shared = new AtomicReference<>();
      AtomicInteger met = new AtomicInteger();
      int rounds = 60_000;
      FutureTask<Boolean> other =
          new FutureTask<>(() -> {
            for (int i = 0; i < rounds; i++) {
              Transaction tx = shared.get();
              while (tx == null) {
                Thread.yield(); // with one processor the other cannot come while this spins
                tx = shared.get();
              }
              shared.set(null);
              endIfPossible(others.get(i % others.size()), tx);
              met.incrementAndGet();
            }
            return true;
          });
      Thread.ofPlatform().daemon().start(other);
      for (int i = 0; i < rounds; i++) {
        Transaction tx = engine.transaction();
        shared.set(tx);
        while (shared.get() != null) {
          assertFalse(other.isDone(), "it has failed");
          Thread.yield();
        }
        endIfPossible(Transaction::commit, tx);
        while (met.get() <= i) {
          assertFalse(other.isDone() && met.get() <= i, "it has failed");
          Thread.yield();
        }
        assertNull(ApiAccess.api().openCore(tx));
        assertEquals(0, engine.snapshots.active());
      }
      assertTrue(other.get());
    }
  }

  private static void endIfPossible(Consumer<Transaction> end, Transaction tx) {
    try {
      end.accept(tx);
    } catch (DatabaseClosedException otherWasFirst) {
      // as it should be
    } catch (TransactionStateException otherWasFirst) {
      if (otherWasFirst.reason() != TransactionStateException.Reason.FINISHED
          && otherWasFirst.reason() != TransactionStateException.Reason.IN_USE) {
        throw otherWasFirst;
      }
      // as it should be
    }
  }

  @Test
  void a_listener_receives_a_leaked_unused_transaction() throws Exception {
    List<LeakedTransaction> leaks = java.util.Collections.synchronizedList(new ArrayList<>());
    try (Database db = Database.open(folder.resolve("db"), SMALL.withLeakListener(leaks::add))) {
      db.begin();
      while (leaks.isEmpty()) {
        System.gc();
        Await.pause();
      }
      assertEquals(0, leaks.getFirst().transactionId());
    }
  }
}
