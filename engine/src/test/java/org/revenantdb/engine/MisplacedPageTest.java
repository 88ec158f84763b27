package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.recovery.file.CorruptDataException;
import org.revenantdb.recovery.format.PageChecksum;

/**
 * A leaf with a good checksum whose fences are not those that its parent knows, as when a page
 * write was lost: a walk came back to it for ever. Found while a crash test flipped bits behind a
 * force that was taken out.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MisplacedPageTest {

  @TempDir Path directory;

  @Test
  void a_page_from_another_time_is_an_error_that_names_it_for_walks_and_for_reads()
      throws IOException {
    try (Database database = Database.open(directory, Samples.SMALL)) {
      Table table = database.table("t");
      for (int i = 0; i < 60; i++) {
        byte[] key = {(byte) i};
        database.run(tx -> tx.put(table, key, new byte[1_000]));
      }
    }
    int bad = putFirstLeafInPlaceOfALaterOne();
    try (Database database = Database.open(directory, Samples.SMALL)) {
      Table table = database.table("t");
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
      assertTrue(!database.check().isSound());
    }
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
