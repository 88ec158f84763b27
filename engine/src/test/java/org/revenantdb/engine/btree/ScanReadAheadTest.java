package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Table;

/** Scans of a table that is larger than the pool: what they read, and which thread reads it. */
class ScanReadAheadTest {
  /** Seven or so on a leaf: more than 2,000 leaves, under more than one inner page. */
  private static final int ROWS = 16_000;

  private static final int ROW_BYTES = 1000;

  private static final int ROWS_OF_LEAF = 7;

  @TempDir Path directory;

  private Database database;
  private Table table;

  @BeforeEach
  void fillAndReopen() {
    open(/* readOnly= */ false);
    try (BulkLoad load = database.bulkLoad(table)) {
      for (int i = 0; i < ROWS; i++) {
        load.add(key(i), new byte[ROW_BYTES]);
      }
      load.finish();
    }
    database.close();
    open(/* readOnly= */ true); // no cleaner, which would read, too
  }

  private void open(boolean readOnly) {
    database =
        Database.open(
            directory.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4L << 20).withReadOnly(readOnly));
    table = database.getOrCreateTable("t");
  }

  @AfterEach
  void close() {
    assertEquals(List.of(), database.check().problems());
    database.close();
  }

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  private int scan(byte @Nullable [] from, byte @Nullable [] to) {
    return database.call(tx -> {
      int rows = 0;
      try (Cursor cursor = tx.scan(table, from, to)) {
        while (cursor.next()) {
          rows++;
        }
      }
      return rows;
    });
  }

  @Test
  void longScan_findsNearlyAllItsLeavesRead() {
    DatabaseStatistics before = database.statistics();
    assertEquals(ROWS, scan(null, null));
    DatabaseStatistics after = database.statistics();
    long leaves = ROWS / 8;
    long ahead = after.pool().pagesReadAhead() - before.pool().pagesReadAhead();
    long missed = after.pool().leaf().misses() - before.pool().leaf().misses();
    assertTrue(ahead > leaves * 9 / 10, "read ahead: " + ahead);
    assertTrue(missed < leaves / 20, "not read ahead: " + missed);
    assertEquals(0, after.pool().frameWaits());
  }

  @Test
  void shortRange_readsNothingBehindItsEnd() {
    for (int i = 0; i < 50; i++) {
      int from = i * 300;
      assertEquals(2, scan(key(from), key(from + 2)));
    }
    DatabaseStatistics after = database.statistics();
    assertTrue(after.pool().pagesReadAhead() <= 50, "read ahead: " + after.pool().pagesReadAhead());
    assertTrue(after.pool().leaf().misses() <= 110, "read: " + after.pool().leaf().misses());
  }

  /** Pages that an open scan reads, averaged over scans that have nothing in common. */
  private double pagesOfOpenScan(int rows) {
    int scans = 30;
    DatabaseStatistics before = database.statistics();
    for (int i = 0; i < scans; i++) {
      byte[] from = key(i * (ROWS / scans));
      database.run(tx -> {
        try (Cursor cursor = tx.scan(table, from, null)) {
          for (int row = 0; row < rows; row++) {
            assertTrue(cursor.next());
          }
        }
      });
    }
    DatabaseStatistics after = database.statistics();
    long ahead = after.pool().pagesReadAhead() - before.pool().pagesReadAhead();
    long missed = after.pool().leaf().misses() - before.pool().leaf().misses();
    return (double) (ahead + missed) / scans;
  }

  @Test
  void openScanOfThreeLeaves_readsNoOther() {
    double pages = pagesOfOpenScan(2 * ROWS_OF_LEAF + 1);
    assertTrue(pages <= 3.5, "pages: " + pages);
  }

  @Test
  void openScan_readsAtMostAboutTwiceWhatIsConsumed() {
    for (int leaves : new int[] {5, 8, 13, 25, 50}) {
      double pages = pagesOfOpenScan(leaves * ROWS_OF_LEAF);
      assertTrue(pages <= 2 * leaves + 2, leaves + " leaves, pages: " + pages);
    }
  }

  @Test
  void classes_addUp() {
    scan(null, null);
    DatabaseStatistics all = database.statistics();
    assertTrue(all.pool().inner().resident() > 0);
    assertTrue(all.pool().leaf().resident() > 0);
    assertTrue(all.pool().leaf().evictions() > 1000, () -> "leaves: " + all.pool().leaf());
    assertTrue(all.pool().inner().hits() > 0);
    long hits =
        all.pool().leaf().hits()
            + all.pool().inner().hits()
            + all.pool().overflow().hits()
            + all.pool().map().hits();
    assertTrue(hits <= all.pool().hits());
    assertTrue(all.pool().leaf().dirty() <= all.pool().leaf().resident());
  }
}
