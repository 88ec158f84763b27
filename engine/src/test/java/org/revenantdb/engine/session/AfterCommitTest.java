package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.testing.Samples;

/** What is done when a transaction has committed. */
class AfterCommitTest {
  private final List<String> done = new ArrayList<>();
  private Database db;
  private Table table;

  @BeforeEach
  void open(@TempDir Path folder) {
    db = Samples.open(folder.resolve("db"));
    table = db.getOrCreateTable("t");
  }

  @AfterEach
  void close() {
    db.close();
  }

  private void note(Transaction tx, String text) {
    tx.afterCommit(() -> done.add(text));
  }

  @Test
  void actions_run_in_order_when_others_see_the_commit() {
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("a"), bytes("1"));
      tx.afterCommit(() -> done.add("saw " + Samples.get(db, "t", "a")));
      note(tx, "second");
      assertEquals(List.of(), done);
      tx.commit();
      assertEquals(List.of("saw 1", "second"), done);
      assertThrows(TransactionStateException.class, () -> note(tx, "late"));
      assertThrows(TransactionStateException.class, tx::commit);
    }
    assertEquals(List.of("saw 1", "second"), done);
  }

  @Test
  void actions_run_if_nothing_was_written_and_if_the_commit_does_not_wait() {
    try (Transaction tx = db.begin()) {
      note(tx, "read only");
      tx.commit();
    }
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("a"), bytes("1"));
      note(tx, "async");
      tx.commitAsync().toCompletableFuture().join();
    }
    assertEquals(List.of("read only", "async"), done);
  }

  @Test
  void nothing_runs_after_a_rollback_or_for_a_prepared_transaction() {
    try (Transaction tx = db.begin()) {
      note(tx, "rolled back");
    }
    Transaction prepared = db.begin();
    prepared.put(table, bytes("a"), bytes("1"));
    note(prepared, "prepared");
    prepared.prepare(bytes("p"));
    db.commitPrepared(bytes("p"));
    assertEquals(List.of(), done);
  }

  @Test
  void a_savepoint_does_not_take_an_action_back() {
    try (Transaction tx = db.begin()) {
      Savepoint savepoint = tx.savepoint();
      note(tx, "kept");
      tx.rollbackTo(savepoint);
      tx.commit();
    }
    assertEquals(List.of("kept"), done);
  }

  @Test
  void only_the_attempt_that_commits_runs_its_actions() {
    db.run(tx -> {
      note(tx, "attempt " + tx.attempt());
      tx.get(table, bytes("a"));
      if (tx.attempt() == 1) {
        Samples.put(db, "t", "a", "other");
      }
      tx.put(table, bytes("a"), bytes("own"));
    });
    assertEquals(List.of("attempt 2"), done);
  }

  @Test
  void what_an_action_throws_goes_to_the_handler_of_the_thread_and_the_commit_stands()
      throws Exception {
    List<Throwable> handled = new ArrayList<>();
    RuntimeException thrown = new IllegalArgumentException("not a conflict of this transaction");
    Thread thread =
        Thread.ofPlatform()
            .uncaughtExceptionHandler((_, failure) -> handled.add(failure))
            .start(() ->
                db.run(tx -> {
                  tx.put(table, bytes("a"), bytes("1"));
                  tx.afterCommit(() -> {
                    throw thrown;
                  });
                  tx.afterCommit(this::conflict);
                  note(tx, "third");
                }));
    thread.join();
    assertEquals(2, handled.size());
    assertSame(thrown, handled.getFirst());
    assertEquals(ConflictException.class, handled.getLast().getClass());
    assertEquals(List.of("third"), done);
    assertEquals("1", Samples.get(db, "t", "a"));
  }

  /** It would be repeated by run if it left the commit. */
  private void conflict() {
    try (Transaction one = db.begin();
        Transaction other = db.begin()) {
      one.put(table, bytes("x"), bytes("1"));
      other.put(table, bytes("x"), bytes("2"));
    }
  }
}
