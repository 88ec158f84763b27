package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;

/** How full leaves are when rows come in key order, and what the first updates of them do. */
class AppendedLeavesTest {
  private static final int ROWS = 20_000;
  private static final int ROWS_A_COMMIT = 100;
  private static final int VALUE = 100;

  @TempDir private Path directory;

  @Test
  void leaves_of_rows_in_key_order_are_full_and_random_updates_split_none_of_them() {
    try (Database db = Database.open(directory.resolve("db"))) {
      Table table = db.getOrCreateTable("rows");
      SplittableRandom random = new SplittableRandom(1);
      for (int first = 0; first < ROWS; first += ROWS_A_COMMIT) {
        int from = first;
        db.run(
            TransactionOptions.lazy(),
            writer -> {
              for (int row = from; row < from + ROWS_A_COMMIT; row++) {
                writer.put(table, key(row), value(random));
              }
            });
      }
      long loaded = db.check().treePages();
      assertTrue(loaded <= ROWS / 54, ROWS + " rows take " + loaded + " pages");
      for (int i = 0; i < 2 * ROWS; i++) {
        byte[] key = key(random.nextInt(ROWS));
        db.run(TransactionOptions.lazy(), writer -> writer.put(table, key, value(random)));
      }
      assertEquals(loaded, db.check().treePages());
    }
  }

  /** Rows of an import: far apart, so that they share few bytes. */
  private static byte[] key(int row) {
    return ByteBuffer.allocate(16).putLong(row * (1_000_003L << 8)).putLong(~row).array();
  }

  private static byte[] value(SplittableRandom random) {
    byte[] value = new byte[VALUE];
    random.nextBytes(value);
    return value;
  }
}
