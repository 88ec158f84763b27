package org.revenantdb.engine.check;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.random;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.lifecycle.PageEdit;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.Samples;

/**
 * Lists of extents (IAM pages) with one bit changed and a good checksum: a compaction moves, frees
 * and gives back by what they say. It is right, or refused by an exception of the project that
 * names the file.
 *
 * <p>{@code -Drevenant.every=1} goes through every bit of the page; without it only some are
 * changed of those that mean the same: reserved ones, extents with a map, extents behind the end of
 * the file. Of the others the seed draws one in five; under {@code -Plong} all are changed.
 */
@Tag("slow")
class ForgedListTest {
  private static final int ROWS = 200;

  /** Offset of the LSN of a page: the bytes before it, the checksum and the id, differ in both. */
  private static final int LSN = 8;

  private static final int EVERY = Integer.getInteger("revenant.every", 2_003);

  /** Of the bits whose meaning is their own, one in so many is changed. */
  private static final int SHARE = EVERY == 1 || Boolean.getBoolean("revenant.long") ? 1 : 10;

  private final long seed = Long.getLong("revenant.seed", new Random().nextInt(1 << 30));

  @TempDir Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  private static byte[] key(int i) {
    return bytes("key%06d".formatted(i));
  }

  /** Two tables whose extents alternate, and free ones before them: there is something to move. */
  private void populate() {
    try (Database db = Samples.open(directory())) {
      Table gone = db.getOrCreateTable("gone");
      Table kept = db.getOrCreateTable("kept");
      Table other = db.getOrCreateTable("other");
      for (int i = 0; i < ROWS; i++) {
        int row = i;
        db.run(tx -> {
          tx.put(gone, key(row), random(row, 1_500));
          tx.put(kept, key(row), random(row, 1_500));
          tx.put(other, key(row), random(row, 700));
        });
      }
      db.dropTable("gone");
      db.cleanNow();
    }
  }

  private static void assertRows(Database db, String name, int length) {
    Table table = db.findTable(name);
    db.run(tx -> {
      for (int i = 0; i < ROWS; i++) {
        assertArrayEquals(random(i, length), tx.get(table, key(i)));
      }
    });
  }

  private interface Step {
    void run();
  }

  private static void demandToldByName(Step step) {
    try {
      step.run();
    } catch (StorageException told) {
      assertTrue(told.getMessage().contains(DatabaseFiles.DATA), told.getMessage());
    }
  }

  private void use() {
    demandToldByName(() -> {
      try (Database db = Samples.open(directory())) {
        demandToldByName(db::compact);
        demandToldByName(db::cleanNow);
        demandToldByName(() -> {
          Table table = db.findTable("kept");
          db.run(tx -> {
            for (int i = ROWS; i < ROWS + 30; i++) {
              tx.put(table, key(i), random(i, 1_500));
            }
          });
        });
        demandToldByName(() -> assertRows(db, "kept", 1_500));
        demandToldByName(() -> assertRows(db, "other", 700));
        demandToldByName(db::compact);
        db.check();
      }
    });
    demandToldByName(() -> {
      try (Database db = Samples.open(directory())) {
        demandToldByName(() -> assertRows(db, "kept", 1_500));
        demandToldByName(() -> assertRows(db, "other", 700));
      }
    });
  }

  @Test
  void a_compaction_is_right_or_refused_by_name_whichever_bit_of_a_list_is_changed()
      throws IOException {
    System.out.println("ForgedListTest -Drevenant.seed=" + seed);
    populate();
    Path sound = folder.resolve("sound");
    LiveCopy.copy(directory(), sound);
    int list =
        PageEdit.pages(directory(), page -> Page.type(page) == Page.IAM).stream()
            .filter(this::isUsed)
            .findFirst()
            .orElseThrow();
    int extents = PageEdit.pages(directory(), page -> true).getLast() / ExtentMapPage.PAGES + 1;
    List<Integer> bits = new ArrayList<>();
    for (int bit = Byte.SIZE * LSN; bit < Byte.SIZE * Page.SIZE; bit++) {
      int extent = bit - Byte.SIZE * SpaceMapPage.HEADER;
      boolean isFewOfMany = bit / Byte.SIZE % Byte.SIZE == bit % Byte.SIZE || bit % EVERY == 0;
      boolean isOfMap = extent % ExtentMapPage.GROUP == 0;
      boolean isDrawn = extent <= extents && Math.floorMod(bit + seed, SHARE) == 0;
      if (isReserved(bit) || isOfMap ? isFewOfMany : isDrawn || bit % EVERY == 0) {
        bits.add(bit);
      }
    }
    for (int bit : bits) {
      LiveCopy.copy(sound, directory());
      PageEdit.change(
          directory(),
          list,
          page ->
              Page.putByte(
                  page,
                  bit / Byte.SIZE,
                  Page.getByte(page, bit / Byte.SIZE) ^ 1 << bit % Byte.SIZE));
      try {
        use();
      } catch (Throwable failure) {
        throw new AssertionError("bit " + bit % Byte.SIZE + " of byte " + bit / Byte.SIZE, failure);
      }
    }
  }

  private static boolean isReserved(int bit) {
    return bit >= Byte.SIZE * (ExtentMapPage.NEXT + Integer.BYTES)
        && bit < Byte.SIZE * SpaceMapPage.HEADER;
  }

  private boolean isUsed(int id) {
    try {
      int bits = SpaceMapPage.bits(PageEdit.page(directory(), SpaceMapPage.mapOf(id)), id);
      return (bits & SpaceMapPage.ALLOCATED) != 0;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
