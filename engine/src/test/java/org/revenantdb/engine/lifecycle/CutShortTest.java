package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;

/** Files that have lost their end, or a segment that only the control slot knows of. */
class CutShortTest {
  @TempDir private Path directory;
  @TempDir private Path image;

  private void create() {
    try (Database database = Database.open(directory)) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> tx.put(table, new byte[] {1}, new byte[100]));
    }
  }

  /** It was opened, and the lost pages read as zeros that were never written. */
  @Test
  void a_data_file_that_is_shorter_than_its_control_slot_knows_is_refused() throws Exception {
    create();
    Path data = directory.resolve("revenant.data");
    try (FileChannel channel = FileChannel.open(data, StandardOpenOption.WRITE)) {
      channel.truncate(60_000);
    }
    CorruptDataException damage =
        assertThrows(CorruptDataException.class, () -> Database.open(directory));
    assertEquals(data, damage.file());
    assertEquals(60_000, damage.offset());
  }

  /** It was called damage in the segment before it. */
  @Test
  void the_first_segment_of_the_last_life_is_told_to_be_missing() throws Exception {
    create();
    try (Database database = Database.open(directory);
        var files = Files.list(directory.resolve("log"))) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> tx.put(table, new byte[] {2}, new byte[100]));
      Files.createDirectories(image.resolve("log"));
      for (String name : new String[] {"revenant.data", "revenant.dw"}) {
        Files.copy(directory.resolve(name), image.resolve(name));
      }
      for (Path file : files.toList()) {
        Files.copy(file, image.resolve("log").resolve(file.getFileName()));
      }
      Path first = FileDamage.firstOfLastLife(image);
      Files.delete(first);
      StorageException missing =
          assertRefused(StorageException.Reason.MISSING_FILE, () -> Database.open(image));
      // Where it began nothing tells: a life begins far behind the one before it.
      assertEquals(image.resolve("log"), missing.file());
      String holds = "the log segment that holds position ";
      String message = missing.getMessage();
      assertTrue(message.contains(holds) && message.contains("is missing"), message);
      String position = message.substring(message.indexOf(holds) + holds.length()).split(" ", 2)[0];
      assertTrue(Long.parseLong(position) >= FileDamage.begin(first), message);
    }
  }
}
