package org.revenantdb.engine.overflow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * A value that is refused when a part of it is written leaves nothing behind, though its
 * transaction goes on: its pages are free, and the file is as short as before.
 */
class RefusedValueTest {
  private static final int LIMIT = 6 << 20;

  @TempDir Path directory;

  private final FaultyFileSystem files = new FaultyFileSystem();
  private Database db;
  private Table table;

  @BeforeEach
  void open() {
    db = Database.open(files.wrap(directory.resolve("db")), Samples.SMALL);
    table = db.getOrCreateTable("t");
    engine().maxValueBytes = LIMIT;
    db.run(tx -> tx.put(table, key("first"), new byte[10_000]));
    db.cleanNow();
  }

  @AfterEach
  void close() {
    files.hook(event -> {});
    db.close();
  }

  private Engine engine() {
    try (Transaction tx = db.begin()) {
      return ApiAccess.api().core(tx).engine();
    }
  }

  private static byte[] key(String text) {
    return Samples.bytes(text);
  }

  private long fileBytes() {
    try {
      return Files.size(directory.resolve("db").resolve("revenant.data"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** So many bytes, and then an exception, or the end; it does not tell how many. */
  private static InputStream stream(long bytes, @Nullable IOException end) {
    return new InputStream() {
      private long left = bytes;

      @Override
      public int read() throws IOException {
        if (left == 0 && end != null) {
          throw end;
        }
        return left-- > 0 ? 7 : -1;
      }

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        if (left == 0 && end != null) {
          throw end;
        }
        int count = (int) Math.min(left, length);
        left -= count;
        return count == 0 && length > 0 ? -1 : count;
      }
    };
  }

  /** Why a value is refused. */
  private enum Refusal {
    TOO_LONG,
    STREAM_THROWS
  }

  private static Throwable refuse(Refusal refusal, PutsStream put) {
    return switch (refusal) {
      case TOO_LONG ->
          assertRefused(
              LimitException.Reason.VALUE_LENGTH, () -> put.put(stream(2L * LIMIT, null)));
      case STREAM_THROWS -> {
        IOException own = new IOException("the sender has gone");
        yield assertThrows(IOException.class, () -> put.put(stream(LIMIT - 1, own)));
      }
    };
  }

  private interface PutsStream {
    void put(InputStream value) throws IOException;
  }

  private long used() {
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    return db.statistics().files().dataFilePages() - report.freePages();
  }

  @ParameterizedTest
  @EnumSource
  void a_streamed_value_that_is_refused_leaves_the_file_as_it_was_before_its_transaction_ends(
      Refusal refusal) {
    long bytes = fileBytes();
    long used = used();
    try (Transaction tx = db.begin()) {
      Throwable told = refuse(refusal, value -> tx.put(table, key("k"), value));
      assertEquals(List.of(), List.of(told.getSuppressed()));
      assertEquals(used, used(), "pages in use");
      assertEquals(bytes, fileBytes(), "bytes of the file");
      assertNull(tx.get(table, key("k")));
      tx.put(table, key("k"), new byte[20_000]);
      tx.commit();
    }
    db.run(tx -> assertArrayEquals(new byte[20_000], tx.get(table, key("k"))));
    assertEquals(bytes, fileBytes());
    assertEquals(List.of(), db.check().problems());
  }

  @ParameterizedTest
  @EnumSource
  void a_refused_value_of_a_bulk_load_leaves_the_file_as_it_was_and_the_load_goes_on(
      Refusal refusal) {
    long bytes = fileBytes();
    try (BulkLoad load = db.bulkLoad(table)) {
      load.add(key("j"), key("j"));
      long used = used();
      refuse(refusal, value -> load.add(key("k"), value));
      assertEquals(used, used(), "pages in use");
      assertEquals(bytes, fileBytes(), "bytes of the file");
      load.add(key("l"), key("l"));
      load.finish();
    }
    db.run(tx -> {
      assertNotNull(tx.get(table, key("j")));
      assertNull(tx.get(table, key("k")));
      assertNotNull(tx.get(table, key("l")));
    });
  }

  @ParameterizedTest
  @EnumSource
  void a_refused_value_of_an_unsorted_load_leaves_its_file_as_it_was_and_the_load_goes_on(
      Refusal refusal) throws IOException {
    Path file = directory.resolve("db").resolve("sorts-1.spill");
    try (BulkLoad load = db.bulkLoad(table)) {
      load.addUnsorted(key("l"), stream(100_000, null));
      long bytes = Files.size(file);
      refuse(refusal, value -> load.addUnsorted(key("k"), value));
      assertEquals(bytes, Files.size(file));
      load.addUnsorted(key("j"), stream(LIMIT, null));
      assertEquals(2, load.rows());
      load.finish();
    }
    db.run(tx -> {
      assertNotNull(tx.get(table, key("j")));
      assertNull(tx.get(table, key("k")));
      assertNotNull(tx.get(table, key("l")));
    });
  }

  @Test
  void a_stream_of_known_length_is_refused_before_it_is_read() throws IOException {
    long tail = engine().storage().log().tail();
    Path large = directory.resolve("large");
    Files.write(large, new byte[LIMIT + 1]);
    try (Transaction tx = db.begin();
        InputStream file = Files.newInputStream(large);
        InputStream old = new java.io.FileInputStream(large.toFile())) {
      for (InputStream value : List.of(file, old, new ByteArrayInputStream(new byte[LIMIT + 1]))) {
        assertRefused(LimitException.Reason.VALUE_LENGTH, () -> tx.put(table, key("k"), value));
        assertEquals(LIMIT + 1, value.available(), "something of it was read");
      }
      assertEquals(0, tx.id());
    }
    assertEquals(tail, engine().storage().log().tail(), "something was logged");
  }

  @Test
  void a_stream_that_claims_to_have_more_than_it_has_is_taken() throws IOException {
    InputStream boasts =
        new FilterInputStream(new ByteArrayInputStream(new byte[1_000_000])) {
          @Override
          public int available() {
            return Integer.MAX_VALUE;
          }
        };
    try (Transaction tx = db.begin()) {
      tx.put(table, key("k"), boasts);
      tx.commit();
    }
    db.run(tx -> assertArrayEquals(new byte[1_000_000], tx.get(table, key("k"))));
  }

  private void fillDisk() {
    long end = fileBytes() + 256 * Page.SIZE;
    files.hook(event -> {
      if (event.is(IoEvent.Kind.WRITE, DatabaseFiles.DATA)
          && event.position() + event.length() > end) {
        throw new IOException("No space left on device");
      }
    });
  }

  @Test
  void a_value_for_which_the_disk_is_too_full_makes_room_at_once_again() {
    fillDisk();
    long used = used();
    try (Transaction tx = db.begin()) {
      byte[] large = new byte[5 << 20];
      assertRefused(StorageException.Reason.DISK_FULL, () -> tx.put(table, key("k"), large));
      assertEquals(used, used());
      assertRefused(
          StorageException.Reason.DISK_FULL,
          () -> tx.put(table, key("k"), stream(large.length, null)));
      assertEquals(used, used());
      db.run(other -> other.put(table, key("other"), new byte[1 << 20]));
      tx.put(table, key("k"), key("small"));
      tx.commit();
    }
    assertEquals(List.of(), db.check().problems());
  }

  @Test
  void what_others_have_put_behind_a_refused_value_stays() throws IOException {
    try (Transaction tx = db.begin()) {
      InputStream value =
          new FilterInputStream(stream(2L * LIMIT, null)) {
            private long read;

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
              int count = super.read(into, offset, length);
              long before = read;
              read += count;
              if (before < LIMIT / 2 && read >= LIMIT / 2) {
                db.run(other -> other.put(table, key("other"), new byte[100_000]));
              }
              return count;
            }
          };
      assertRefused(LimitException.Reason.VALUE_LENGTH, () -> tx.put(table, key("k"), value));
      tx.rollback();
    }
    db.run(tx -> assertArrayEquals(new byte[100_000], tx.get(table, key("other"))));
    assertEquals(List.of(), db.check().problems());
  }

  @Test
  void a_stream_that_ends_the_transaction_and_then_throws_frees_nothing_of_others() {
    long used = used();
    Transaction tx = db.begin();
    InputStream value =
        new FilterInputStream(stream(LIMIT, null)) {
          private long read;

          @Override
          public int read(byte[] into, int offset, int length) throws IOException {
            if (read > LIMIT / 2) {
              tx.rollback();
              db.cleanNow(); // the pages are free, and somebody else's
              db.run(other -> other.put(table, key("other"), new byte[LIMIT / 2]));
              throw new IOException("enough");
            }
            int count = super.read(into, offset, length);
            read += count;
            return count;
          }
        };
    IOException told = assertThrows(IOException.class, () -> tx.put(table, key("k"), value));
    assertEquals("enough", told.getMessage());
    db.cleanNow();
    db.run(other -> {
      assertArrayEquals(new byte[LIMIT / 2], other.get(table, key("other")));
      other.delete(table, key("other"));
    });
    db.cleanNow();
    assertTrue(used() <= used + 1);
  }
}
