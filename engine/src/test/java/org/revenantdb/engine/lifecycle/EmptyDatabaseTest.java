package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.testing.LiveCopy;

/** A database without a table takes less than 256 KB, with options as they are by default. */
class EmptyDatabaseTest {
  private static final long MOST = 256_000;

  @TempDir Path folder;

  private static long bytes(Path directory) throws IOException {
    long sum = 0;
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.toList()) {
        sum += Files.isRegularFile(file) ? Files.size(file) : 0;
      }
    }
    return sum;
  }

  private static void assertSmall(Path directory) throws IOException {
    long bytes = bytes(directory);
    assertTrue(bytes < MOST, directory + " has " + bytes + " bytes");
  }

  @Test
  void a_database_that_was_created_and_closed_is_small() throws IOException {
    Path directory = folder.resolve("db");
    for (int life = 0; life < 6; life++) {
      Database.open(directory).close();
      assertSmall(directory);
    }
  }

  /** A life that is killed before its redo has ended leaves one segment more. */
  @Test
  void a_database_that_was_created_and_killed_is_small() throws IOException {
    Path directory = folder.resolve("0");
    for (int life = 0; life < 3; life++) {
      Path killed = folder.resolve(String.valueOf(life + 1));
      try (Database db = Database.open(directory)) {
        assertTrue(db.check().isSound());
        assertSmall(directory);
        LiveCopy.copy(directory, killed);
        Files.writeString(killed.resolve(DatabaseFiles.LOCK), "");
      }
      assertSmall(killed);
      directory = killed;
    }
  }
}
