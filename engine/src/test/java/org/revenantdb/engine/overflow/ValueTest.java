package org.revenantdb.engine.overflow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.MIB;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.random;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.session.StreamedValue;
import org.revenantdb.engine.testing.Samples;

/** Values of every size, as arrays and as streams. */
class ValueTest {
  @TempDir private Path folder;

  private Database db;
  private Table table;

  @BeforeEach
  void openDatabase() {
    db = Samples.open(folder.resolve("db"));
    table = db.getOrCreateTable("t");
  }

  @AfterEach
  void closeDatabase() {
    CheckReport report = db.check();
    db.close();
    assertTrue(report.isSound(), report.toString());
  }

  private void reopen() {
    db.close();
    db = Samples.open(folder.resolve("db"));
    table = db.getOrCreateTable("t");
  }

  /** Where the way of storing a value changes, and one byte to each side. */
  private static int[] boundarySizes(int keyLength) {
    TreeSet<Integer> sizes = new TreeSet<>();
    int capacity = OverflowPage.CAPACITY;
    for (int edge :
        new int[] {
          0,
          1,
          LeafCell.maxInlineValue(keyLength),
          LeafCell.MAX_CELL,
          capacity,
          capacity - 4,
          2 * capacity,
          2 * capacity - 4,
          2 * capacity - 8,
          3 * capacity,
          OverflowWriter.CHUNK,
          OverflowWriter.CHUNK - 4 * 8,
          2 * OverflowWriter.CHUNK,
          3 * MIB
        }) {
      for (int size = edge - 1; size <= edge + 1; size++) {
        if (size >= 0) {
          sizes.add(size);
        }
      }
    }
    return sizes.stream().mapToInt(Integer::intValue).toArray();
  }

  @Test
  void values_ofBoundarySizes_asArrays() {
    for (int keyLength : new int[] {1, 17, Database.MAX_KEY_BYTES}) {
      for (int size : boundarySizes(keyLength)) {
        byte[] key = random(size, keyLength);
        byte[] value = random(size + 1, size);
        db.run(tx -> {
          tx.put(table, key, value);
          assertTrue(Arrays.equals(value, tx.get(table, key)), "own, of size " + size);
        });
        db.run(tx -> assertTrue(Arrays.equals(value, tx.get(table, key)), "of size " + size));
        db.run(tx -> {
          Cursor cursor = tx.scan(table, key, null);
          assertTrue(cursor.next());
          assertEquals(size, cursor.valueLength());
          assertTrue(Arrays.equals(value, cursor.value()), "by cursor, of size " + size);
          assertTrue(tx.delete(table, key));
        });
      }
    }
    db.cleanNow();
    assertEquals(0, db.check().overflowPages());
  }

  @Test
  void values_ofBoundarySizes_asStreams_surviveAReopen() throws IOException {
    int[] sizes = boundarySizes(17);
    for (int size : sizes) {
      byte[] key = random(size, 17);
      byte[] value = random(size + 1, size);
      db.runThrowing(tx -> tx.put(table, key, new Dripping(new ByteArrayInputStream(value), size)));
    }
    reopen();
    for (int size : sizes) {
      byte[] key = random(size, 17);
      byte[] value = random(size + 1, size);
      try (Transaction tx = db.begin();
          InputStream stream = tx.open(table, key)) {
        assertTrue(Arrays.equals(value, stream.readAllBytes()), "of size " + size);
        assertEquals(-1, stream.read());
        assertEquals(-1, stream.read(new byte[10]));
      }
    }
  }

  /** Gives what it has in pieces of random sizes, so that no reader may count on whole reads. */
  private static final class Dripping extends InputStream {
    private final InputStream source;
    private final Random random;

    Dripping(InputStream source, long seed) {
      this.source = source;
      this.random = new Random(seed);
    }

    @Override
    public int read() throws IOException {
      return source.read();
    }

    @Override
    public int read(byte[] target, int from, int count) throws IOException {
      return count == 0 ? 0 : source.read(target, from, 1 + random.nextInt(Math.min(count, 9_000)));
    }

    @Override
    public void close() {
      throw new AssertionError("the stream belongs to the caller");
    }
  }

  @Test
  void stream_isReadInAnyPieces_andSkipped() throws IOException {
    byte[] value = random(5, 400_000);
    db.run(tx -> tx.put(table, bytes("k"), value));
    try (Transaction tx = db.begin();
        InputStream stream = tx.open(table, bytes("k"))) {
      Random random = new Random(6);
      int at = 0;
      while (at < value.length) {
        switch (random.nextInt(3)) {
          case 0 -> assertEquals(value[at++] & 0xFF, stream.read());
          case 1 -> at += (int) stream.skip(random.nextInt(10_000));
          default -> {
            byte[] piece = new byte[random.nextInt(20_000)];
            int n = stream.read(piece);
            assertTrue(
                Arrays.equals(value, at, at + n, piece, 0, n), "bytes from " + at + ", " + n);
            at += n;
          }
        }
        assertTrue(stream.available() >= 0 && stream.available() <= value.length - at);
      }
      assertEquals(-1, stream.read());
    }
  }

  @Test
  void value_of_one_row_is_copied_to_another_within_one_transaction() throws IOException {
    byte[] value = random(9, 5 * MIB + 17);
    db.run(tx -> tx.put(table, bytes("a"), value));
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("b"), tx.open(table, bytes("a")));
      tx.put(table, bytes("c"), tx.open(table, bytes("b")));
      tx.put(table, bytes("b"), tx.open(table, bytes("b"))); // onto itself
      tx.commit();
    }
    try (Transaction tx = db.begin()) {
      for (String key : new String[] {"a", "b", "c"}) {
        assertArrayEquals(value, tx.get(table, bytes(key)), key);
      }
    }
  }

  @Test
  void stream_ofAnOlderSnapshot_staysWhole_whileTheRowIsReplacedAndCleaned() throws IOException {
    byte[] old = random(1, 300_000);
    db.run(tx -> tx.put(table, bytes("k"), old));
    try (Transaction tx = db.begin();
        InputStream stream = tx.open(table, bytes("k"))) {
      byte[] first = stream.readNBytes(100_000);
      for (int i = 0; i < 3; i++) {
        byte[] next = random(i + 2, 200_000 + i);
        db.run(t -> t.put(table, bytes("k"), next));
        db.run(t -> t.delete(table, bytes("k")));
        db.cleanNow();
      }
      byte[] rest = stream.readAllBytes();
      assertTrue(Arrays.equals(old, 0, 100_000, first, 0, 100_000));
      assertTrue(Arrays.equals(old, 100_000, old.length, rest, 0, rest.length));
    }
    db.cleanNow();
    assertEquals(0, db.check().overflowPages());
  }

  /** Throws after some bytes. */
  private static final class Broken extends InputStream {
    private final IOException thrown;
    private int left;

    Broken(int bytes, IOException thrown) {
      left = bytes;
      this.thrown = thrown;
    }

    @Override
    public int read() throws IOException {
      if (left-- <= 0) {
        throw thrown;
      }
      return 'x';
    }
  }

  @Test
  void stream_thatThrowsHalfWay_changesNothing_andItsSpaceComesBack() {
    db.run(tx -> tx.put(table, bytes("k"), bytes("before")));
    long free = freePages();
    for (int bytes : new int[] {0, 1, 5_000, OverflowWriter.CHUNK, 3 * OverflowWriter.CHUNK + 1}) {
      IOException broken = new IOException("broken");
      try (Transaction tx = db.begin()) {
        tx.put(table, bytes("other" + bytes), bytes("1"));
        IOException caught =
            assertThrows(
                IOException.class, () -> tx.put(table, bytes("k"), new Broken(bytes, broken)));
        assertSame(broken, caught);
        assertThrows(
            IOException.class, () -> tx.put(table, bytes("new"), new Broken(bytes, broken)));
        assertArrayEquals(bytes("before"), tx.get(table, bytes("k")));
        assertFalse(tx.exists(table, bytes("new")));
        tx.put(table, bytes("other2"), bytes("2"));
        tx.commit();
      }
      try (Transaction tx = db.begin()) {
        assertArrayEquals(bytes("before"), tx.get(table, bytes("k")));
        assertArrayEquals(bytes("1"), tx.get(table, bytes("other" + bytes)));
        assertNull(tx.get(table, bytes("new")));
      }
    }
    db.cleanNow();
    CheckReport report = db.check();
    assertEquals(0, report.overflowPages());
    assertEquals(0, report.pagesToClean());
    assertTrue(freePages() >= free - 1, free + " free pages before, now " + freePages());
  }

  private long freePages() {
    db.cleanNow();
    return db.check().freePages();
  }

  @Test
  void stream_that_ends_its_own_transaction_leaves_the_row_unchanged() {
    db.run(tx -> tx.put(table, bytes("k"), bytes("before")));
    for (boolean commit : new boolean[] {true, false}) {
      Transaction tx = db.begin();
      InputStream ending =
          new InputStream() {
            private int left = 2 * OverflowWriter.CHUNK;

            @Override
            public int read() {
              if (--left == OverflowWriter.CHUNK / 2) {
                if (commit) {
                  tx.commit();
                } else {
                  tx.rollback();
                }
              }
              return left < 0 ? -1 : 1;
            }
          };
      assertRefused(
          TransactionStateException.Reason.FINISHED, () -> tx.put(table, bytes("k"), ending));
    }
    db.run(tx -> assertArrayEquals(bytes("before"), tx.get(table, bytes("k"))));
    db.cleanNow();
    assertEquals(0, db.check().overflowPages());
  }

  @Test
  void stream_thatUsesItsOwnTransaction_works() throws IOException {
    byte[] value = random(2, 2 * OverflowWriter.CHUNK + 5);
    try (Transaction tx = db.begin()) {
      InputStream busy =
          new InputStream() {
            private int at;

            @Override
            public int read() {
              if (at % 10_000 == 0) {
                // A large value, too: the writers of both must not be the same.
                tx.put(table, bytes("inner" + at), random(at, 20_000));
              }
              return at == value.length ? -1 : value[at++] & 0xFF;
            }
          };
      tx.put(table, bytes("k"), busy);
      tx.commit();
    }
    try (Transaction tx = db.begin()) {
      assertArrayEquals(value, tx.get(table, bytes("k")));
      for (int at = 0; at < value.length; at += 10_000) {
        assertArrayEquals(random(at, 20_000), tx.get(table, bytes("inner" + at)));
      }
    }
  }

  @Test
  void stream_thatNeverEnds_isCutOff_atTheLongestValue() {
    assumeTrue(Boolean.getBoolean("revenant.long"), "writes 1 GiB");
    try (Transaction tx = db.begin()) {
      InputStream endless =
          new InputStream() {
            @Override
            public int read() {
              return 1;
            }

            @Override
            public int read(byte[] target, int from, int count) {
              return count;
            }
          };
      LimitException refused =
          assertRefused(
              LimitException.Reason.VALUE_LENGTH, () -> tx.put(table, bytes("k"), endless));
      assertTrue(refused.getMessage().contains("1073741824"), refused.getMessage());
      assertFalse(tx.exists(table, bytes("k")));
      tx.put(table, bytes("k"), bytes("v"));
      tx.commit();
    }
    db.cleanNow();
    assertEquals(0, db.check().overflowPages());
  }

  @Test
  void length_aboveTheLongest_isRefused_beforeAnythingIsWritten() {
    StreamedValue.checkLength(Database.MAX_VALUE_BYTES, Database.MAX_VALUE_BYTES);
    LimitException refused =
        assertRefused(
            LimitException.Reason.VALUE_LENGTH,
            () ->
                StreamedValue.checkLength(Database.MAX_VALUE_BYTES, Database.MAX_VALUE_BYTES + 1));
    assertTrue(refused.getMessage().contains("1073741825"), refused.getMessage());
  }

  @Test
  void large_values_replaced_many_times_keep_the_file_small() {
    for (int i = 0; i < 40; i++) {
      byte[] value = random(i, 500_000);
      db.run(tx -> tx.put(table, bytes("k"), value));
      if (i % 4 == 3) {
        db.cleanNow();
      }
    }
    assertTrue(db.statistics().files().dataFilePages() < 2_000, db.statistics().toString());
    assertNotNull(db.check());
  }

  @Test
  void mixed_writes_of_one_row_in_one_transaction_end_with_the_last() {
    try (Transaction tx = db.begin()) {
      for (int i = 0; i < 30; i++) {
        byte[] value = random(i, i % 3 == 0 ? 10 : i % 3 == 1 ? 2_000 : 30_000);
        tx.put(table, bytes("k"), value);
        assertArrayEquals(value, tx.get(table, bytes("k")));
        if (i % 7 == 6) {
          assertTrue(tx.delete(table, bytes("k")));
          assertNull(tx.get(table, bytes("k")));
        }
      }
      tx.commit();
    }
    db.cleanNow();
    assertEquals(4, db.check().overflowPages(), "those of the last value alone");
    db.run(tx -> assertArrayEquals(random(29, 30_000), tx.get(table, bytes("k"))));
  }
}
