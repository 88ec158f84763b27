package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * One reader that stays beside millions of updates: what is kept for it has a bound that does not
 * depend on their number. {@code -Plong}: a hundred million of them, some minutes.
 */
@Tag("slow")
class LongReaderTest {
  private static final int ROWS = 1_000;
  private static final int VALUE = 100;
  private static final int TENTHS = 10;
  private static final long LOG = 16L << 20;
  private static final int UPDATES = Boolean.getBoolean("revenant.long") ? 100_000_000 : 500_000;

  /** Of a row, in memory. */
  private static final int MOST_VERSIONS = 6;

  /** A version in memory, with what leads to it. */
  private static final int VERSION_BYTES = VALUE + 200;

  @TempDir private Path folder;

  private static byte[] key(int row) {
    return ByteBuffer.allocate(4).putInt(row).array();
  }

  private static byte[] value(int number) {
    return ByteBuffer.allocate(VALUE).putInt(number).array();
  }

  @Test
  void beside_a_reader_that_stays_memory_and_files_have_a_bound_that_updates_do_not_move()
      throws Exception {
    DatabaseOptions options =
        DatabaseOptions.defaults()
            .withDurability(Durability.LAZY)
            .withMaxRecoveryLog(LOG)
            .withPoolBytes(16L << 20);
    try (Database db = Database.open(folder.resolve("db"), options)) {
      Table table = db.getOrCreateTable("t");
      update(db, table, -ROWS, 0);
      try (Transaction reader = db.begin(TransactionOptions.lazy().withReadOnly(true))) {
        assertEquals(ROWS, reader.count(table, null, null));
        long pages = 0;
        for (int tenth = 0; tenth < TENTHS; tenth++) {
          int from = tenth * (UPDATES / TENTHS);
          update(db, table, from, from + UPDATES / TENTHS);
          DatabaseStatistics counts = db.statistics();
          // The reader's and those of both writers; one that moves may be counted twice.
          assertTrue(
              counts.versions().longestChain() <= MOST_VERSIONS,
              "chain " + counts.versions().longestChain());
          assertEquals(0, counts.versions().chainExcess());
          assertTrue(
              counts.versions().memoryBytes() <= (long) MOST_VERSIONS * ROWS * VERSION_BYTES,
              counts.versions().memoryBytes() + " bytes of versions in memory");
          assertEquals(0, counts.versions().runBytes(), "bytes of versions in files");
          assertTrue(
              counts.files().logDirectoryBytes() <= 3 * LOG,
              counts.files().logDirectoryBytes() + " bytes of log");
          pages = tenth == 0 ? counts.files().dataFilePages() : pages;
          assertEquals(pages, counts.files().dataFilePages(), "pages of the data file");
        }
        for (int row = 0; row < ROWS; row++) {
          assertArrayEquals(value(row - ROWS), reader.get(table, key(row)));
        }
        assertTrue(db.statistics().commits().lazy() >= UPDATES);
        reader.commit();
      }
      db.cleanNow();
      assertEquals(0, db.statistics().versions().memoryBytes());
      assertTrue(db.check().isSound());
    }
  }

  /** Two sessions, half of the rows each, as they would be in conflict. */
  private static void update(Database db, Table table, int from, int to) throws Exception {
    FutureTask<Void> other =
        new FutureTask<>(() -> updateHalf(db, table, from, to, 1), /* result= */ null);
    Thread.ofPlatform().start(other);
    updateHalf(db, table, from, to, 0);
    other.get();
  }

  private static void updateHalf(Database db, Table table, int from, int to, int half) {
    for (int number = from + half; number < to; number += 2) {
      try (Transaction tx = db.begin()) {
        tx.put(table, key(Math.floorMod(number, ROWS)), value(number));
        tx.commit();
      }
    }
  }
}
