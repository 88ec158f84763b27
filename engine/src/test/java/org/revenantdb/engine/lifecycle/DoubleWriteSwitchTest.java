package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.testing.LiveCopy;

/**
 * Rule R24: a page written after the double-write file was switched off must not be "repaired" from
 * a batch that the file still held, with what it was before.
 */
class DoubleWriteSwitchTest {
  private static final DatabaseOptions ON =
      DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20);
  private static final DatabaseOptions OFF = ON.withDoubleWrite(false);
  private static final byte[] KEY = bytes("the one row");

  @TempDir Path temporary;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** What a crash leaves of a database at rest. */
  private Path crash(String from, String to) {
    Path source = temporary.resolve(from);
    Path target = temporary.resolve(to);
    try {
      LiveCopy.copy(source, target);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return target;
  }

  private static void put(Database database, String value) {
    database.run(tx -> tx.put(database.getOrCreateTable("t"), KEY, bytes(value)));
    database.cleanNow();
    database.checkpoint();
  }

  private static byte[] get(Database database) {
    return database.call(tx -> tx.get(database.getOrCreateTable("t"), KEY));
  }

  @Test
  void R24_opening_without_double_write_forgets_the_batch_that_the_file_holds() throws IOException {
    try (Database database = Database.open(temporary.resolve("first"), ON)) {
      put(database, "old");
      crash("first", "second");
    }
    try (Database database = Database.open(temporary.resolve("second"), OFF)) {
      put(database, "new");
      crash("second", "third");
    }
    Path data = temporary.resolve("third").resolve(DatabaseFiles.DATA);
    byte[] bytes = Files.readAllBytes(data);
    int row = indexOf(bytes, KEY);
    assertTrue(row > 0 && new String(bytes, row, 100, StandardCharsets.ISO_8859_1).contains("new"));
    bytes[row / Page.SIZE * Page.SIZE + 100] ^= 1; // half of it never arrived
    Files.write(data, bytes);
    CorruptDataException told =
        assertThrows(
            CorruptDataException.class,
            () -> {
              try (Database database = Database.open(temporary.resolve("third"), ON)) {
                assertArrayEquals(bytes("new"), get(database), "an older page was put back");
              }
            });
    assertEquals(row / Page.SIZE * (long) Page.SIZE, told.offset());
  }

  /** The counterpart: while it is on, the batch does repair the page. */
  @Test
  void R24_with_double_write_the_page_is_repaired() throws IOException {
    try (Database database = Database.open(temporary.resolve("first"), ON)) {
      put(database, "old"); // the first write of a new page is not in the batch
      put(database, "new");
      crash("first", "second");
    }
    Path data = temporary.resolve("second").resolve(DatabaseFiles.DATA);
    byte[] bytes = Files.readAllBytes(data);
    bytes[indexOf(bytes, KEY) / Page.SIZE * Page.SIZE + 100] ^= 1;
    Files.write(data, bytes);
    try (Database database = Database.open(temporary.resolve("second"), OFF)) {
      assertArrayEquals(bytes("new"), get(database));
      assertEquals(1, database.recoveryReport().pagesRestored());
    }
  }

  private static int indexOf(byte[] bytes, byte[] wanted) {
    for (int at = 0; at + wanted.length <= bytes.length; at++) {
      if (Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
        return at;
      }
    }
    return -1;
  }
}
