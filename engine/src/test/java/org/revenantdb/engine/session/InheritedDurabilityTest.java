package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.testing.Samples;

/** Options that do not set the durability take that of the database. */
class InheritedDurabilityTest {
  @TempDir Path folder;

  private Database open(Durability durability) {
    return Database.open(folder.resolve("db"), Samples.SMALL.withDurability(durability));
  }

  private static Durability durability(Database db, TransactionOptions options) {
    try (Transaction tx = db.begin(options)) {
      return ApiAccess.api().core(tx).durability();
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_setting_that_is_not_the_durability_leaves_that_of_the_database(Durability own) {
    TransactionOptions defaults = TransactionOptions.defaults();
    try (Database db = open(own)) {
      assertEquals(own, durability(db, defaults));
      assertEquals(own, durability(db, defaults.withName("report")));
      assertEquals(own, durability(db, defaults.withReadOnly(true)));
      assertEquals(own, durability(db, defaults.withIsolation(Isolation.SERIALIZABLE)));
      assertEquals(own, durability(db, defaults.withLockTimeout(Duration.ofSeconds(1))));
      assertEquals(own, durability(db, defaults.withRetryTimeout(Duration.ofSeconds(1))));
      assertEquals(own, durability(db, defaults.withDeferReadWaitsToCommit(true)));
      try (Transaction tx = db.begin()) {
        assertEquals(own, ApiAccess.api().core(tx).durability());
      }
      db.run(
          defaults.withName("report"),
          tx -> assertEquals(own, ApiAccess.api().core(tx).durability()));
      db.read(tx -> {
        assertEquals(own, ApiAccess.api().core(tx).durability());
        return 0;
      });
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_durability_that_is_set_counts_more_than_that_of_the_database(Durability own) {
    try (Database db = open(own)) {
      for (Durability set : Durability.values()) {
        assertEquals(set, durability(db, TransactionOptions.of(set).withName("report")));
        assertEquals(set, durability(db, TransactionOptions.defaults().withDurability(set)));
      }
    }
  }

  @Test
  @SuppressWarnings("NullAway") // null is the wrong value
  void to_inherit_is_not_set_with_null() {
    assertNull(TransactionOptions.defaults().withName("report").durability());
    assertThrows(
        NullPointerException.class, () -> TransactionOptions.defaults().withDurability(null));
  }
}
