package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.CommittedStates.key;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.change.ChangeSteps;
import org.revenantdb.engine.change.ThrowAtStep;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.RecordType;

/**
 * An outcome whose record could not be published, and that a restart may find nevertheless: the
 * record was whole in a ring that outlives the process, and the log has stopped for that
 * (docs/protocols.md §46).
 */
class UnknownOutcomeTest {
  private static final byte[] NAME = Samples.bytes("one");

  @TempDir private Path directory;

  private final StackOverflowError error = new StackOverflowError("thrown by the test");

  /** As the log does if an error strikes between the copy of a record and its publication. */
  private void strike(TestEngine engine, RecordType type, boolean stops) {
    engine.journal.gate =
        record -> {
          if (record.array()[LogRecordLayout.TYPE] == type.code()) {
            if (stops) {
              engine.journal.fail(error);
            }
            throw error;
          }
        };
  }

  private static Transaction written(TestEngine engine) {
    Table table = engine.table("t", TableOptions.defaults());
    Transaction tx = engine.transaction(TransactionOptions.durable());
    tx.put(table, key(1), new byte[10]);
    return tx;
  }

  private static long id(Transaction tx) {
    return ApiAccess.api().core(tx).id();
  }

  private void assertUnknown(Executable call, String names) {
    OutcomeUnknownException unknown = assertThrows(OutcomeUnknownException.class, call);
    assertTrue(unknown.getMessage().contains(names), unknown.getMessage());
    Throwable cause = unknown;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    assertSame(error, cause);
  }

  /** Nobody waits for its outcome, and it holds nothing. */
  private static void assertRolledBack(TestEngine engine, Transaction tx, long id) {
    assertEquals(TransactionTable.ABORTED, engine.storage.transactions().status(id));
    assertEquals(TransactionState.State.ROLLED_BACK, ApiAccess.api().core(tx).state());
    tx.close();
  }

  @Test
  void the_outcome_of_a_commit_whose_record_may_be_in_the_log_is_unknown() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Transaction tx = written(engine);
      long id = id(tx);
      strike(engine, RecordType.COMMIT, /* stops= */ true);
      assertUnknown(tx::commit, "transaction " + id + " ");
      assertRolledBack(engine, tx, id);
    }
  }

  @Test
  void it_is_unknown_whether_a_transaction_is_prepared_whose_record_may_be_in_the_log() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Transaction tx = written(engine);
      long id = id(tx);
      strike(engine, RecordType.PREPARE, /* stops= */ true);
      assertUnknown(() -> tx.prepare(NAME), "transaction " + id + " ");
      assertRolledBack(engine, tx, id);
      assertEquals(0, engine.engine.prepared().names().size());
    }
  }

  /** A PAD took the place of the record, so the log goes on, and no restart finds it. */
  @Test
  void a_transaction_whose_preparation_is_not_in_the_log_goes_on() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Transaction tx = written(engine);
      strike(engine, RecordType.PREPARE, /* stops= */ false);
      assertSame(error, assertThrows(StackOverflowError.class, () -> tx.prepare(NAME)));
      engine.journal.gate = record -> {};
      assertTrue(tx.prepare(NAME));
      assertTrue(engine.engine.prepared().rollback(NAME) != 0);
      engine.checkAllClean();
    }
  }

  @Test
  void the_outcome_of_a_prepared_transaction_whose_record_may_be_in_the_log_is_unknown() {
    for (RecordType type : new RecordType[] {RecordType.COMMIT, RecordType.ABORT}) {
      try (TestEngine engine = new TestEngine(directory, 256)) {
        Transaction tx = written(engine);
        assertTrue(tx.prepare(NAME));
        PreparedTransactions prepared = engine.engine.prepared();
        Executable decision =
            type == RecordType.COMMIT ? () -> prepared.commit(NAME) : () -> prepared.rollback(NAME);
        strike(engine, type, /* stops= */ false);
        assertSame(error, assertThrows(StackOverflowError.class, decision));
        strike(engine, type, /* stops= */ true);
        assertUnknown(decision, "prepared transaction");
        assertEquals(1, prepared.names().size(), "it stays, and nobody waits for it");
      }
    }
  }

  /** The rest of the end was skipped: the transaction stayed open, and its tables locked. */
  @Test
  void R18_a_commit_that_fails_has_ended_also_if_memory_lacks_for_its_abort() {
    for (boolean stops : new boolean[] {false, true}) {
      try (TestEngine engine = new TestEngine(directory, 256)) {
        Transaction tx = written(engine);
        long id = id(tx);
        strike(engine, RecordType.COMMIT, stops);
        InternalError none = new InternalError("as no memory"); // JUnit dies of an OutOfMemoryError
        try (ThrowAtStep aborting =
            new ThrowAtStep(engine.journal, ChangeSteps.Step.ABORTING, none)) {
          if (stops) {
            assertUnknown(tx::commit, "transaction " + id + " ");
          } else {
            assertSame(error, assertThrows(StackOverflowError.class, tx::commit));
            assertSame(none, engine.journal.failure(), "the id would count as committed");
          }
          assertTrue(aborting.hasThrown());
        }
        assertRolledBack(engine, tx, id);
        assertFalse(engine.engine.open().ofThisThread(id) != null, "it is not open any more");
      }
    }
  }

  @Test
  void the_outcome_of_a_lazy_commit_is_unknown_if_the_log_fails_before_it_is_unbroken() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Table table = engine.table("t", TableOptions.defaults());
      Transaction tx = engine.transaction(TransactionOptions.lazy());
      tx.put(table, key(1), new byte[10]);
      long id = id(tx);
      engine.journal.unbroken =
          lsn -> {
            throw new DurabilityUnknownException(lsn, error);
          };
      assertUnknown(tx::commit, "transaction " + id + " ");
      assertEquals(TransactionState.State.COMMITTED, ApiAccess.api().core(tx).state());
      Transaction other = engine.transaction(TransactionOptions.lazy());
      other.put(table, key(1), new byte[11]);
      long otherId = id(other);
      assertUnknown(other::commitAsync, "transaction " + otherId + " ");
    }
  }
}
