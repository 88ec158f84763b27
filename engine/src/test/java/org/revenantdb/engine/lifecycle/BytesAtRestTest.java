package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.testing.Samples;

/**
 * What a database takes on the disk beside its rows: little log, no free end, and leaves that are
 * not split by updates.
 */
class BytesAtRestTest {
  private static final int ROWS = 40_000;
  private static final int KEY = 16;
  private static final int VALUE = 100;
  private static final int IN_ONE = 1_000;

  /** Keys are not next to each other, as those of most tables are not. */
  private static final long SPREAD = 1_000_003L << 8;

  private static final DatabaseOptions OPTIONS =
      Samples.SMALL
          .withPoolBytes(32L * Samples.MIB)
          .withMaxRecoveryLog(32L * Samples.MIB)
          .withCountersFile(false);

  @TempDir Path folder;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  private static byte[] key(long row) {
    return ByteBuffer.allocate(KEY).putLong(row * SPREAD).putLong(row * 31).array();
  }

  private static byte[] value(long row) {
    return Samples.random(row, VALUE);
  }

  private static void load(Database db, int rows) {
    Table table = db.getOrCreateTable("rows");
    for (int first = 0; first < rows; first += IN_ONE) {
      int from = first;
      db.run(
          TransactionOptions.lazy(),
          tx -> {
            for (int row = from; row < from + IN_ONE; row++) {
              tx.put(table, key(row), value(row));
            }
          });
    }
  }

  /** A predecessor stays on its leaf at least until the transaction has ended. */
  @ParameterizedTest
  @ValueSource(ints = {1, 50})
  void updates_of_rows_that_were_put_in_order_split_no_leaf(int together) {
    System.out.println("BytesAtRestTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    try (Database db = Database.open(folder, OPTIONS)) {
      load(db, ROWS);
      db.cleanNow();
      long before = db.check().treePages();
      Table table = db.getOrCreateTable("rows");
      for (int i = 0; i < ROWS; i += together) {
        int first = i;
        db.run(
            TransactionOptions.lazy(),
            tx -> {
              for (int stamp = first; stamp < first + together; stamp++) {
                tx.put(table, key(random.nextInt(ROWS)), value(stamp));
              }
            });
      }
      long after = db.check().treePages();
      assertTrue(after - before <= before / 100, before + " pages before, " + after + " after");
    }
  }

  /** Without room for them, the leaves would be half as full from then on. */
  @Test
  void updates_that_an_open_snapshot_keeps_on_their_leaves_split_none() {
    try (Database db = Database.open(folder, OPTIONS)) {
      load(db, ROWS);
      db.cleanNow();
      long before = db.check().treePages();
      Table table = db.getOrCreateTable("rows");
      try (Transaction reader = db.begin()) {
        reader.get(table, key(0));
        db.run(tx -> {
          for (int row = 0; row < ROWS; row += 8) { // six or seven of each leaf
            tx.put(table, key(row), value(row + 1));
          }
        });
      }
      assertEquals(before, db.check().treePages());
    }
  }

  @Test
  void four_updates_on_a_full_last_leaf_do_not_split_it() {
    try (Database db = Database.open(folder, OPTIONS)) {
      int full = 0;
      Table first = db.getOrCreateTable("first");
      for (long leaves = db.check().treePages() + 4; db.check().treePages() < leaves; full++) {
        int row = full;
        db.run(tx -> putNear(tx, first, row, 0));
      }
      Table second = db.getOrCreateTable("second");
      for (int i = 0; i < full - 1; i++) { // one more would be on the next leaf
        int row = i;
        db.run(tx -> putNear(tx, second, row, 0));
      }
      long before = db.check().treePages();
      int last = full - 2;
      db.run(tx -> {
        for (int row = last; row > last - 4; row--) {
          putNear(tx, second, row, 1);
        }
      });
      assertEquals(before, db.check().treePages());
    }
  }

  private static void putNear(Transaction tx, Table table, int row, int version) {
    byte[] near = ByteBuffer.allocate(KEY).putInt(KEY - Integer.BYTES, row).array();
    tx.put(table, near, Samples.random(2L * row + version, VALUE));
  }

  private long logBytes() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("log"))) {
      long sum = 0;
      for (Path file : files.toList()) {
        sum += Files.size(file);
      }
      return sum;
    }
  }

  /** A free one, and those with the last checkpoint: two, if it has filled one. */
  @Test
  void a_closed_database_keeps_two_or_three_segments() throws IOException {
    try (Database db = Database.open(folder, OPTIONS)) {
      load(db, 5 * ROWS);
      long most = db.statistics().files().logDirectoryBytes();
      assertTrue(most > 16L * Samples.MIB, "it has " + most + " bytes of log");
    }
    assertTrue(logBytes() <= 3 * Samples.MIB, logBytes() + " bytes of log");
    try (Database db = Database.open(folder, OPTIONS)) {
      assertTrue(db.recoveryReport().clean());
      load(db, 2 * ROWS);
      assertEquals(List.of(), db.check().problems());
    }
    assertTrue(logBytes() <= 3 * Samples.MIB, logBytes() + " bytes of log");
  }

  @Test
  void a_closed_database_has_little_free_space_at_the_end_of_its_file() throws IOException {
    try (Database db = Database.open(folder, OPTIONS)) {
      load(db, 2 * ROWS);
    }
    List<Integer> used = PageEdit.pages(folder, page -> Page.type(page) != 0);
    int end = used.getLast() + 1;
    long size = Files.size(folder.resolve("revenant.data")) / Page.SIZE;
    assertTrue(size <= end + end / 128 + 8 + 64, size + " pages, used up to " + end);
    try (Database db = Database.open(folder, OPTIONS)) {
      assertTrue(db.recoveryReport().clean());
      load(db, 3 * ROWS); // it grows again
      assertEquals(List.of(), db.check().problems());
    }
  }
}
