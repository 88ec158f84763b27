package org.revenantdb.engine.check;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;

/**
 * The space map of the last group was read when a database was opened; a damaged one was taken for
 * one that was never written, and an empty one put in its place: pages in use were handed out
 * again.
 */
@Tag("slow") // writes 70 MB
class DamagedSpaceMapTest {
  /** The map of the second group. */
  private static final int MAP = SpaceMapPage.GROUP + SpaceMapPage.POSITION;

  private static final DatabaseOptions OPTIONS = DatabaseOptions.defaults().withPoolBytes(4 << 20);

  @TempDir Path directory;

  @Test
  void a_damaged_or_lost_map_of_the_last_group_is_reported_and_not_replaced() throws IOException {
    try (Database database = Database.open(directory, OPTIONS)) {
      Table table = database.getOrCreateTable("t");
      byte[] value = new byte[10_000_000];
      for (int i = 0; i < 7; i++) {
        byte[] key = {(byte) i};
        database.run(tx -> tx.put(table, key, value));
      }
      assertTrue(
          database.statistics().files().dataFilePages() > MAP, "the file has a second group");
    }
    byte[] good = read();
    assertEquals(SpaceMapPage.ALLOCATED | SpaceMapPage.MIXED, good[SpaceMapPage.offset(MAP)]);
    byte[] flipped = good.clone();
    flipped[1000] ^= 4;
    for (byte[] bad : List.of(flipped, new byte[Page.SIZE])) {
      write(bad);
      for (int attempt = 0; attempt < 2; attempt++) {
        CorruptDataException told =
            assertThrows(
                CorruptDataException.class, () -> Database.open(directory, OPTIONS).close());
        assertEquals((long) MAP * Page.SIZE, told.offset());
        assertTrue(told.getMessage().contains("page " + MAP), told.getMessage());
        assertArrayEquals(bad, read(), "what is there must stay for whoever repairs it");
      }
    }
    write(good);
    try (Database database = Database.open(directory, OPTIONS)) {
      assertEquals(List.of(), database.check().problems());
    }
  }

  private byte[] read() throws IOException {
    byte[] page = new byte[Page.SIZE];
    try (RandomAccessFile file = data("r")) {
      file.seek((long) MAP * Page.SIZE);
      file.readFully(page);
    }
    return page;
  }

  private void write(byte[] page) throws IOException {
    try (RandomAccessFile file = data("rw")) {
      file.seek((long) MAP * Page.SIZE);
      file.write(page);
    }
  }

  private RandomAccessFile data(String mode) throws IOException {
    return new RandomAccessFile(directory.resolve(DatabaseFiles.DATA).toFile(), mode);
  }
}
