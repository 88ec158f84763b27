package org.revenantdb.engine.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.format.PageChecksum;

/**
 * A leaf with a good checksum whose fences are not those that its parent knows, as when a page
 * write was lost: a walk came back to it for ever. Found while a crash test flipped bits behind a
 * force that was taken out.
 */
class MisplacedPageTest {

  @TempDir Path directory;

  @Test
  void a_page_from_another_time_is_an_error_that_names_it_for_walks_and_for_reads()
      throws IOException {
    try (Database database = Database.open(directory, Samples.SMALL)) {
      Table table = database.getOrCreateTable("t");
      for (int i = 0; i < 60; i++) {
        byte[] key = {(byte) i};
        database.run(tx -> tx.put(table, key, new byte[1_000]));
      }
    }
    int bad = putFirstLeafInPlaceOfALaterOne();
    try (Database database = Database.open(directory, Samples.SMALL)) {
      Table table = database.getOrCreateTable("t");
      try (Transaction tx = database.begin()) {
        for (Cursor cursor :
            List.of(tx.scan(table, null, null), tx.scanDescending(table, null, null))) {
          CorruptDataException told =
              assertThrows(
                  CorruptDataException.class,
                  () -> {
                    while (cursor.next()) {
                      cursor.key();
                    }
                  });
          assertEquals((long) bad * Page.SIZE, told.offset());
          cursor.close();
        }
        int notFound = 0;
        for (int i = 0; i < 60; i++) {
          byte[] key = {(byte) i};
          try {
            assertNotNull(tx.get(table, key));
          } catch (CorruptDataException told) {
            assertEquals((long) bad * Page.SIZE, told.offset());
            notFound++;
          }
        }
        assertTrue(notFound > 0, "the rows of the page that was overwritten are missing");
      }
      int refused = 0;
      for (int i = 0; i < 60; i++) {
        byte[] key = {(byte) i, 1};
        try {
          database.run(tx -> tx.put(table, key, new byte[10]));
        } catch (CorruptDataException told) {
          assertEquals((long) bad * Page.SIZE, told.offset());
          refused++;
        }
      }
      assertTrue(refused > 0, "rows were written to a page that is another one");
      String problems = database.check().problems().toString();
      assertFalse(problems.contains("outside the fences"), problems);
      assertTrue(!database.check().isSound());
    }
  }

  @Test
  void a_change_for_a_page_from_another_time_is_an_error_that_names_it_for_redo()
      throws IOException {
    Path crashed = directory.resolve("crashed");
    byte[] early;
    int leaf;
    long lsn;
    try (Database database = Database.open(directory.resolve("db"), Samples.SMALL)) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> tx.put(table, new byte[] {0}, new byte[10]));
      database.checkpoint();
      leaf = firstLeaf(directory.resolve("db"));
      early = page(directory.resolve("db"), leaf);
      for (int i = 1; i < 100; i++) {
        byte[] key = {(byte) i};
        database.run(tx -> tx.put(table, key, new byte[10]));
      }
      database.checkpoint();
      lsn = Page.lsn(MemorySegment.ofArray(page(directory.resolve("db"), leaf)));
      database.run(tx -> tx.delete(table, new byte[] {90}));
      LiveCopy.copy(directory.resolve("db"), crashed);
    }
    try (RandomAccessFile file =
        new RandomAccessFile(crashed.resolve(DatabaseFiles.DATA).toFile(), "rw")) {
      file.seek((long) leaf * Page.SIZE);
      file.write(early);
    }
    assertRefused(crashed, leaf, "an old version of itself");
    // Where its LSN does not tell, the change does that it cannot take.
    MemorySegment disguised = MemorySegment.ofArray(early);
    Page.setLsn(disguised, lsn);
    PageChecksum.seal(disguised);
    try (RandomAccessFile file =
        new RandomAccessFile(crashed.resolve(DatabaseFiles.DATA).toFile(), "rw")) {
      file.seek((long) leaf * Page.SIZE);
      file.write(early);
    }
    assertRefused(crashed, leaf, "cannot take the change");
    // The first read refuses it for this life. Often that is the background redo, which tells
    // nobody: so the later ones have to tell the cause, and not only that the page is too old.
    try (Database database = Database.open(crashed, Samples.SMALL)) {
      assertRefused(database, leaf, "cannot take the change");
      assertRefused(database, leaf, "cannot take the change");
      try (RandomAccessFile file =
          new RandomAccessFile(crashed.resolve(DatabaseFiles.DATA).toFile(), "rw")) {
        file.seek((long) leaf * Page.SIZE + 100);
        file.write(~early[100]);
      }
      assertRefused(database, leaf, "cannot take the change"); // and not that it has a bad checksum
    }
  }

  private static void assertRefused(Path crashed, int leaf, String words) {
    // Opened read-only, so that the directory stays as it is.
    try (Database database = Database.open(crashed, Samples.SMALL.withReadOnly(true))) {
      assertRefused(database, leaf, words);
    }
  }

  private static void assertRefused(Database database, int leaf, String words) {
    Table table = database.table("t");
    CorruptDataException told =
        assertThrows(
            CorruptDataException.class, () -> database.call(tx -> tx.get(table, new byte[] {0})));
    assertEquals((long) leaf * Page.SIZE, told.offset());
    assertTrue(told.getMessage().contains(words), told.getMessage());
  }

  private static byte[] page(Path database, int id) throws IOException {
    try (RandomAccessFile file =
        new RandomAccessFile(database.resolve(DatabaseFiles.DATA).toFile(), "r")) {
      byte[] page = new byte[Page.SIZE];
      file.seek((long) id * Page.SIZE);
      file.readFully(page);
      return page;
    }
  }

  /** The only leaf that has a row: the others are the catalog's, which come before it. */
  private static int firstLeaf(Path database) throws IOException {
    int leaf = -1;
    long pages = Files.size(database.resolve(DatabaseFiles.DATA)) / Page.SIZE;
    for (int id = 3; id < pages; id++) {
      if (Page.type(MemorySegment.ofArray(page(database, id))) == Page.LEAF) {
        leaf = id;
      }
    }
    return leaf;
  }

  private int putFirstLeafInPlaceOfALaterOne() throws IOException {
    try (RandomAccessFile file =
        new RandomAccessFile(directory.resolve(DatabaseFiles.DATA).toFile(), "rw")) {
      byte[] first = null;
      for (int id = 3; (id + 1L) * Page.SIZE <= file.length(); id++) {
        byte[] page = new byte[Page.SIZE];
        file.seek((long) id * Page.SIZE);
        file.readFully(page);
        MemorySegment segment = MemorySegment.ofArray(page);
        if (Page.type(segment) != Page.LEAF || !Slotted.hasUpperFence(segment)) {
          continue;
        }
        if (first != null) {
          MemorySegment copy = MemorySegment.ofArray(first);
          Page.setId(copy, id);
          Page.setLsn(copy, Page.lsn(segment)); // or it would be told by that
          PageChecksum.seal(copy);
          file.seek((long) id * Page.SIZE);
          file.write(first);
          return id;
        }
        first = Slotted.lowerFence(segment).length == 0 ? page : null;
      }
    }
    throw new AssertionError("the table has too few leaves");
  }
}
