package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.testing.Samples;

/** The name of a transaction in the messages about it. */
class NamedConflictTest {
  private static final TransactionOptions USUAL = TransactionOptions.defaults();

  @TempDir Path folder;

  private Database db;
  private Table table;

  @BeforeEach
  void open() {
    db = Samples.open(folder.resolve("db"));
    table = db.createTable("t");
  }

  @AfterEach
  void close() {
    db.close();
  }

  private ConflictException putBeside(Transaction holder, TransactionOptions options)
      throws Exception {
    holder.put(table, bytes("row"), bytes("one"));
    FutureTask<ConflictException> refused =
        new FutureTask<>(() -> {
          try (Transaction other = db.begin(options)) {
            return assertThrows(
                ConflictException.class, () -> other.put(table, bytes("row"), bytes("two")));
          }
        });
    Thread.ofPlatform().start(refused);
    return refused.get();
  }

  @Test
  void a_conflict_names_the_transaction_that_has_the_row() throws Exception {
    try (Transaction holder = db.begin(USUAL.withName("nightly import"))) {
      String message = putBeside(holder, USUAL).getMessage();
      assertTrue(
          message.contains("transaction " + holder.id() + " \"nightly import\" is changing"),
          message);
    }
  }

  @Test
  void a_transaction_without_a_name_is_told_by_its_number() throws Exception {
    try (Transaction holder = db.begin(USUAL)) {
      String message = putBeside(holder, USUAL).getMessage();
      assertTrue(message.contains("transaction " + holder.id() + " is changing"), message);
    }
  }

  @Test
  void a_lock_timeout_names_the_transaction_that_has_the_row() throws Exception {
    try (Transaction holder = db.begin(USUAL.withName("nightly import"))) {
      String message = putBeside(holder, USUAL.withLockTimeout(Duration.ofNanos(1))).getMessage();
      assertTrue(
          message.contains("transaction " + holder.id() + " \"nightly import\" has written"),
          message);
    }
  }

  @Test
  void a_thread_in_its_own_way_is_told_both_names() {
    try (Transaction first = db.begin(USUAL.withName("first"));
        Transaction second = db.begin(USUAL.withName("second"))) {
      first.put(table, bytes("row"), bytes("one"));
      second.put(table, bytes("other"), bytes("one"));
      String message =
          assertThrows(ConflictException.class, () -> second.put(table, bytes("row"), bytes("two")))
              .getMessage();
      assertTrue(message.contains("transaction " + first.id() + " \"first\" is"), message);
      assertTrue(message.contains("transaction " + second.id() + " \"second\" would"), message);
    }
  }

  // ------------------------------------------------------------------------ reads with options

  @Test
  void a_read_with_options_has_them_and_writes_nothing() {
    db.run(tx -> tx.put(table, bytes("row"), bytes("one")));
    TransactionOptions options = USUAL.withIsolation(Isolation.SERIALIZABLE).withName("report");
    byte[] found =
        db.read(
            options,
            tx -> {
              assertEquals("report", tx.options().name());
              assertEquals(Isolation.SERIALIZABLE, tx.options().isolation());
              assertTrue(tx.options().readOnly());
              return tx.get(table, bytes("row"));
            });
    assertEquals("one", Samples.text(found));
    assertThrows(
        TransactionStateException.class,
        () ->
            db.read(
                options,
                tx -> {
                  tx.put(table, bytes("row"), bytes("two"));
                  return true;
                }));
    assertEquals("one", Samples.text(db.readThrowing(options, tx -> tx.get(table, bytes("row")))));
  }

  // ------------------------------------------------------------------------------ other messages

  @Test
  void wrong_use_prints_the_class_that_the_documentation_names() {
    try (Transaction tx = db.begin(USUAL);
        Transaction other = db.begin(USUAL)) {
      var savepoint = tx.savepoint();
      IllegalArgumentException told =
          assertThrows(IllegalArgumentException.class, () -> other.rollbackTo(savepoint));
      assertTrue(told.toString().startsWith("java.lang.IllegalArgumentException: "));
    }
  }

  @Test
  void a_null_argument_is_named() {
    assertEquals(
        "name must not be null",
        assertThrows(NullPointerException.class, () -> db.table(null)).getMessage());
  }

  @Test
  void the_directory_of_a_database_is_absolute_in_messages() {
    Path here = Path.of("").toAbsolutePath();
    Path relative = here.relativize(folder.resolve("other").toAbsolutePath());
    assertFalse(relative.isAbsolute());
    try (Database other = Database.open(relative, Samples.SMALL)) {
      assertTrue(other.directory().isAbsolute());
      String message = assertThrows(RuntimeException.class, () -> other.table("x")).getMessage();
      assertTrue(message.contains(other.directory().toString()), message);
    }
  }
}
