package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.testing.LiveCopy;

/** Files of an open database, copied one after the other: what does not fit says why. */
class CopyInUseTest {
  private static final int ROWS = 5_000;
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withPoolBytes(2 << 20)
          .withLogSegmentBytes(1 << 20)
          .withMaxRecoveryLog(4 << 20);

  @TempDir Path temporary;
  private Path copy;
  private Database db;
  private Table rows;

  @BeforeEach
  void open() throws IOException {
    copy = Files.createDirectories(temporary.resolve("copy"));
    db = Database.open(temporary.resolve("db"), OPTIONS);
    rows = db.createTable("rows");
    update(1);
  }

  @AfterEach
  void close() {
    db.close();
  }

  private static byte[] key(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  private void update(int value) {
    db.run(tx -> {
      for (int i = 0; i < ROWS; i++) {
        byte[] row = new byte[100];
        row[0] = (byte) value;
        tx.put(rows, key(i), row);
      }
    });
  }

  private void copy(String... names) throws IOException {
    for (String name : names) {
      Path file = db.directory().resolve(name);
      if (Files.isDirectory(file)) {
        LiveCopy.copy(file, copy.resolve(name));
      } else {
        Files.copy(file, copy.resolve(name), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  /** At the open, or when the rows are read. */
  private String refusal(Path directory) {
    StorageException refused =
        assertThrows(
            StorageException.class,
            () -> {
              try (Database opened = Database.open(directory, OPTIONS.withCreate(false))) {
                opened.read(tx -> tx.count(opened.table("rows"), null, null));
              }
            });
    return refused.getMessage();
  }

  private static void assertExplained(String told) {
    assertTrue(told.contains("was in use") && told.contains("backup"), told);
    assertFalse(told.contains("check the device"), told);
  }

  @Test
  void a_log_that_is_older_than_the_data_file() throws IOException {
    copy("log", "revenant.lock");
    for (int i = 2; i < 12; i++) {
      update(i);
      db.checkpoint();
    }
    copy("revenant.data", "revenant.dw");
    assertExplained(refusal(copy));
    assertExplained(refusal(copy)); // the next attempt says the same
  }

  @Test
  void a_data_file_that_is_older_than_the_log() throws IOException {
    copy("revenant.data", "revenant.dw", "revenant.lock");
    for (int i = 2; i < 40; i++) { // until the log that it needs is recycled
      update(i);
      db.checkpoint();
    }
    copy("log");
    assertExplained(refusal(copy));
  }

  @Test
  void a_page_that_was_copied_while_it_was_written() throws IOException {
    db.cleanNow();
    db.checkpoint();
    Table other = db.createTable("other");
    db.run(tx -> tx.put(other, key(1), new byte[10]));
    db.checkpoint(); // the double-write file has other pages from now on
    copy("revenant.data", "revenant.dw", "log", "revenant.lock");
    flip(copy);
    assertExplained(refusal(copy));
  }

  private static void flip(Path directory) throws IOException {
    Path data = directory.resolve(DatabaseFiles.DATA);
    byte[] bytes = Files.readAllBytes(data);
    bytes[8_192 * 40 + 100] ^= 1;
    Files.write(data, bytes);
  }

  @Test
  void damage_in_the_directory_of_the_original_is_told_as_damage() throws IOException {
    db.close();
    flip(db.directory());
    String told = refusal(db.directory());
    assertTrue(told.contains("check the device") && !told.contains("was in use"), told);
    // A copy of a closed database is no copy of one in use.
    LiveCopy.copy(db.directory(), copy);
    assertFalse(refusal(copy).contains("was in use"));
    try (Stream<Path> files = Files.list(copy)) {
      assertEquals(
          List.of("log", "revenant.data", "revenant.dw", "revenant.lock"),
          files.map(file -> String.valueOf(file.getFileName())).sorted().toList());
    }
  }
}
