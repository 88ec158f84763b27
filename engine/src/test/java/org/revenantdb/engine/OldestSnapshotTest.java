package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.Samples.bytes;
import static org.revenantdb.engine.Samples.put;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The statistics name the oldest snapshot; what {@code stat} shows of it: {@code CommandsTest}. */
@Timeout(120) // a hang is a failure
class OldestSnapshotTest {
  @TempDir private Path folder;

  @Test
  void the_statistics_name_the_oldest_snapshot_and_its_transaction() {
    try (Database db = Samples.open(folder.resolve("db"))) {
      put(db, "t", "k", "v");
      assertEquals(0, db.statistics().snapshots());
      assertEquals(0, db.statistics().oldestSnapshotLsn());
      assertEquals(0, db.statistics().oldestSnapshotSince());
      long before = System.currentTimeMillis();
      Transaction reader = db.begin();
      long lsn = db.statistics().logTail();
      put(db, "t", "k", "w");
      Transaction writer = db.begin();
      writer.put(db.table("t"), bytes("l"), bytes("x"));
      DatabaseStatistics counts = db.statistics();
      assertEquals(2, counts.snapshots());
      assertEquals(lsn, counts.oldestSnapshotLsn());
      assertEquals(0, counts.oldestSnapshotTransaction(), "it has not written");
      while (db.statistics().oldestSnapshotSince() == System.currentTimeMillis()) {
        Thread.onSpinWait();
      }
      assertTrue(counts.oldestSnapshotSince() >= before);
      reader.close();
      counts = db.statistics();
      assertEquals(writer.core().id(), counts.oldestSnapshotTransaction());
      assertTrue(counts.oldestSnapshotLsn() > lsn);
      writer.rollback();
      assertEquals(0, db.statistics().oldestSnapshotSince());
    }
  }
}
