package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.put;

import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.OldestSnapshot;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.recovery.testing.Await;

/** The statistics name the oldest snapshot; what {@code stat} shows of it: {@code CommandsTest}. */
class OldestSnapshotTest {
  @TempDir private Path folder;

  private static OldestSnapshot oldest(Database db) {
    return Objects.requireNonNull(db.statistics().versions().oldestSnapshot());
  }

  @Test
  void the_statistics_name_the_oldest_snapshot_and_its_transaction() {
    try (Database db = Samples.open(folder.resolve("db"))) {
      put(db, "t", "k", "v");
      assertEquals(0, db.statistics().versions().snapshots());
      assertNull(db.statistics().versions().oldestSnapshot());
      long before = System.currentTimeMillis();
      Transaction reader = db.begin(TransactionOptions.durable().withName("report"));
      long lsn = db.statistics().files().logTail();
      put(db, "t", "k", "w");
      Transaction writer = db.begin();
      writer.put(db.getOrCreateTable("t"), bytes("l"), bytes("x"));
      assertEquals(2, db.statistics().versions().snapshots());
      OldestSnapshot found = oldest(db);
      assertEquals(lsn, found.lsn());
      assertEquals(0, found.transactionId(), "it has not written");
      assertEquals("report", found.name());
      while (oldest(db).since() == System.currentTimeMillis()) {
        Await.pause();
      }
      assertTrue(found.since() >= before);
      reader.close();
      found = oldest(db);
      assertEquals(writer.id(), found.transactionId());
      assertNull(found.name());
      assertTrue(found.lsn() > lsn);
      writer.rollback();
      assertNull(db.statistics().versions().oldestSnapshot());
    }
  }

  /** The statistics threw then, beside transactions that came and went. */
  @Test
  void a_snapshot_that_has_ended_meanwhile_is_not_open_and_no_mistake() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Transaction reader = engine.transaction();
      ActiveSnapshots.Open found = Objects.requireNonNull(engine.snapshots.oldest(0));
      assertTrue(engine.snapshots.isOpen(found));
      reader.rollback();
      assertFalse(engine.snapshots.isOpen(found));
    }
  }

  @Test
  void one_that_has_been_open_for_long_still_has_its_name() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Transaction reader = engine.transaction(TransactionOptions.lazy().withName("report"));
      OpenTransactions open = engine.engine.open();
      int slot = Objects.requireNonNull(engine.snapshots.oldest(0)).slot();
      assertEquals("report", open.holderIn(slot).name());
      open.sweep(); // it is watched from now on
      assertEquals("report", open.holderIn(slot).name());
      reader.rollback();
      assertNull(open.holderIn(slot).name());
    }
  }

  @Test
  void a_cursor_of_one_that_reads_committed_has_its_name() {
    TransactionOptions options =
        TransactionOptions.lazy().withIsolation(Isolation.READ_COMMITTED).withName("report");
    try (Database db = Samples.open(folder.resolve("db"))) {
      put(db, "t", "k", "v");
      Table table = db.getOrCreateTable("t");
      try (Transaction reader = db.begin(options)) {
        reader.put(table, bytes("l"), bytes("x"));
        Cursor cursor = reader.scan(table, null, null);
        assertTrue(cursor.next());
        put(db, "t", "k", "w");
        assertNotNull(reader.get(table, bytes("k")));
        OldestSnapshot held = oldest(db);
        assertTrue(held.lsn() < ApiAccess.api().core(reader).snapshot(), "that has moved on");
        assertEquals("report", held.name());
        assertEquals(reader.id(), held.transactionId());
        cursor.close();
        assertEquals(ApiAccess.api().core(reader).snapshot(), oldest(db).lsn());
        reader.rollback();
      }
      assertNull(db.statistics().versions().oldestSnapshot());
    }
  }
}
