package org.revenantdb.jmh.recovery;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.insert.RowNumbers;

/** That a copy is a whole database, and which rows lie in how many pages. */
class CrashImageTest {
  private static final int ROWS = 2_000;
  private static final long POOL = 4 << 20;

  @TempDir private Path folder;

  @Test
  void copy_hasAllRows_andTheFilesStayWhenTheyAreDroppedFromTheCache()
      throws IOException, InterruptedException {
    Path loaded = folder.resolve("loaded");
    long pages = CrashImage.load(loaded, ROWS, POOL);
    assertTrue(pages > ROWS / 50, () -> pages + " pages");
    Path copy = folder.resolve("copy");
    CrashImage.copy(loaded, copy);
    assertEquals(names(loaded), names(copy));
    boolean _ = FileCache.drop(CrashImage.files(copy)); // not every system can
    for (Path file : CrashImage.files(loaded)) {
      Path other = copy.resolve(loaded.relativize(file));
      assertArrayEquals(Files.readAllBytes(file), Files.readAllBytes(other), file::toString);
    }
    try (Database database = Database.open(copy, CrashImage.options(POOL))) {
      assertTrue(database.recoveryReport().clean());
      Table table = database.getOrCreateTable(CrashImage.ROWS);
      try (Transaction tx = database.begin()) {
        assertEquals(ROWS, tx.count(table, null, null));
        BigRows.demand(ROWS - 1, tx.get(table, RowNumbers.key(ROWS - 1)));
      }
    }
  }

  @Test
  void rows_inAPartOfThePages() {
    assertEquals(400, CrashImage.rowsIn(10, 25, 1_000));
    assertEquals(1_000, CrashImage.rowsIn(25, 25, 1_000));
    assertEquals(1_000, CrashImage.rowsIn(0, 25, 1_000));
    assertThrows(IllegalArgumentException.class, () -> CrashImage.rowsIn(26, 25, 1_000));
  }

  private static Set<String> names(Path directory) throws IOException {
    return CrashImage.files(directory).stream()
        .map(file -> directory.relativize(file).toString())
        .collect(Collectors.toSet());
  }
}
