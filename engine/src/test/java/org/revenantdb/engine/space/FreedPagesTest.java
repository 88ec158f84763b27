package org.revenantdb.engine.space;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.testing.LiveCopy;

/** Redo of pages that were freed, through a real restart. */
class FreedPagesTest {
  @TempDir Path directory;

  private static byte[] value(int length, int seed) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  @Test
  void R12_pages_freed_and_used_again_since_the_checkpoint_are_not_read_at_restart()
      throws IOException {
    Path crashed = directory.resolve("crashed");
    // The double-write file would repair what is spoilt here.
    DatabaseOptions options = DatabaseOptions.defaults().withDoubleWrite(false);
    byte[] key = {1};
    try (Database database = Database.open(directory.resolve("db"), options)) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> tx.put(table, key, value(400_000, 1)));
      database.checkpoint();
      // Since then: the head is changed, all pages are freed,
      // and most are used again by another value.
      database.run(tx -> tx.delete(table, key));
      database.cleanNow();
      assertEquals(0, database.check().overflowPages());
      database.run(tx -> tx.put(table, new byte[] {2}, value(300_000, 2)));
      LiveCopy.copy(directory.resolve("db"), crashed);
    }
    // Nothing of them was written back yet; their places get what no one may look at.
    int spoilt = 0;
    try (RandomAccessFile data =
        new RandomAccessFile(crashed.resolve("revenant.data").toFile(), "rw")) {
      for (long page = 5; page < data.length() / 8192; page++) {
        data.seek(page * 8192 + 16);
        int type = data.read();
        if (type == 5 || type == 7) {
          data.seek(page * 8192 + 100);
          data.write(value(1000, (int) page));
          spoilt++;
        }
      }
    }
    assertTrue(spoilt > 40, spoilt + " pages of large values were in the file");
    try (Database database = Database.open(crashed, options)) {
      assertFalse(database.recoveryReport().clean());
      Table table = database.getOrCreateTable("t");
      try (Transaction tx = database.begin()) {
        assertFalse(tx.exists(table, key));
        assertArrayEquals(value(300_000, 2), tx.get(table, new byte[] {2}));
      }
      database.cleanNow();
      CheckReport report = database.check();
      assertTrue(report.isSound(), () -> report.problems().toString());
    }
  }
}
