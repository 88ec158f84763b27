package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.put;

import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.testing.Samples;

/** How a transaction is begun. */
class TransactionOptionsTest {
  private static final TransactionOptions READ_ONLY =
      TransactionOptions.durable().withReadOnly(true);

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void one_that_only_reads_is_refused_whatever_would_write_and_goes_on(Isolation isolation) {
    try (Database db = Samples.open(folder.resolve("db"))) {
      put(db, "t", "k", "v");
      Table table = db.getOrCreateTable("t");
      db.cleanNow(); // what the put has left for the cleaner would be in the log, too
      db.checkpoint();
      long before = db.statistics().files().logTail();
      try (Transaction tx = db.begin(READ_ONLY.withIsolation(isolation))) {
        Consumer<Executable> refused =
            write -> assertRefused(TransactionStateException.Reason.READ_ONLY, write);
        refused.accept(() -> tx.put(table, bytes("k"), bytes("w")));
        refused.accept(() -> tx.delete(table, bytes("k")));
        refused.accept(() -> tx.delete(table, bytes("none")));
        refused.accept(() -> tx.deleteRange(table, bytes("a"), bytes("z")));
        refused.accept(() -> tx.lockForUpdate(table, bytes("k")));
        refused.accept(() -> tx.lockForUpdate(table, bytes("none")));
        ByteArrayInputStream untouched = new ByteArrayInputStream(new byte[100_000]);
        refused.accept(() -> tx.put(table, bytes("k"), untouched));
        assertEquals(100_000, untouched.available());
        refused.accept(() -> tx.createTable("new"));
        refused.accept(() -> tx.truncate(table));
        refused.accept(() -> tx.dropTable(table));
        assertEquals("v", new String(tx.get(table, bytes("k"))));
        assertEquals(1, tx.count(table, bytes("a"), bytes("z")));
        tx.commit();
      }
      assertEquals(before, db.statistics().files().logTail(), "nothing of it is in the log");
    }
  }

  @Test
  void work_that_only_reads_is_refused_to_write_at_the_first_attempt() {
    try (Database db = Samples.open(folder.resolve("db"))) {
      put(db, "t", "k", "v");
      int[] attempts = {0};
      assertRefused(
          TransactionStateException.Reason.READ_ONLY,
          () ->
              db.run(
                  READ_ONLY,
                  tx -> {
                    attempts[0] = tx.attempt();
                    tx.put(db.getOrCreateTable("t"), bytes("k"), bytes("w"));
                  }));
      assertEquals(1, attempts[0]);
    }
  }

  @Test
  void each_setting_leaves_the_others_as_they_are() {
    TransactionOptions all =
        TransactionOptions.lazy()
            .withName("report")
            .withReadOnly(true)
            .withDeferReadWaitsToCommit(true)
            .withIsolation(Isolation.SERIALIZABLE)
            .withLockTimeout(java.time.Duration.ofSeconds(1));
    assertEquals("report", all.name());
    assertTrue(all.readOnly());
    assertTrue(all.deferReadWaitsToCommit());
    assertEquals(Isolation.SERIALIZABLE, all.isolation());
    assertEquals(all, all.withName("report").withReadOnly(true));
    assertFalse(all.withReadOnly(false).readOnly());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "  ",
        "two\nlines",
        "\u001b[2J",
        "two\u2028lines",
        "\u202eback",
        "half \ud800"
      })
  void a_name_that_cannot_be_shown_in_a_line_is_refused(String name) {
    TransactionOptions options = TransactionOptions.durable();
    assertThrows(IllegalArgumentException.class, () -> options.withName(name));
  }

  @Test
  void a_name_of_more_than_a_hundred_characters_is_refused() {
    TransactionOptions options = TransactionOptions.durable();
    assertEquals("x".repeat(100), options.withName("x".repeat(100)).name());
    assertThrows(IllegalArgumentException.class, () -> options.withName("x".repeat(101)));
  }
}
