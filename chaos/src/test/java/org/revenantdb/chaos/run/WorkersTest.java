package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;

class WorkersTest {

  private static int logs(Path dir) throws IOException {
    int count = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(dir, "promises*")) {
      for (Path _ : files) {
        count++;
      }
    }
    return count;
  }

  /** Failed with 21 files. */
  @Test
  void only_the_last_promises_are_kept_in_files(@TempDir Path dir) throws IOException {
    try (Workers workers =
            Workers.onDisk(
                HonestTiny.class, dir, List.of(), Duration.ofMinutes(1), /* images= */ 100);
        ImageChecker checker = workers.get()) {
      PromiseLog first = new PromiseLog();
      for (int i = 0; i < 20; i++) {
        StateResult result = checker.check(new DiskImage(), new PromiseLog(), 1);
        assertTrue(result.survived(), result::summary);
        assertTrue(checker.check(new DiskImage(), first, 1).survived());
      }
      assertEquals(16, logs(dir));
    }
  }

  @Test
  void files_that_a_worker_cannot_read_are_no_failure_of_the_store(@TempDir Path dir)
      throws IOException {
    PromiseLog log = new PromiseLog();
    try (Workers workers =
            Workers.onDisk(
                HonestTiny.class, dir, List.of(), Duration.ofMinutes(1), /* images= */ 1);
        ImageChecker checker = workers.get()) {
      StateResult first = checker.check(new DiskImage(), log, 1);
      assertTrue(first.survived(), first::summary);
      int deleted = 0;
      try (DirectoryStream<Path> files = Files.newDirectoryStream(dir, "promises*")) {
        for (Path file : files) {
          Files.delete(file);
          deleted++;
        }
      }
      assertEquals(1, deleted);
      IllegalStateException broken =
          assertThrows(IllegalStateException.class, () -> checker.check(new DiskImage(), log, 1));
      String message = String.valueOf(broken.getMessage());
      assertTrue(message.contains("NoSuchFileException"), message);
      assertTrue(message.contains(dir.toString()), message);
    }
  }
}
