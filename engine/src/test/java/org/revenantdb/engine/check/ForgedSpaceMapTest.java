package org.revenantdb.engine.check;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.random;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.lifecycle.PageEdit;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.Samples;

/**
 * Space maps with a good checksum that call a page free which is in use: the allocator gives that
 * page out, perhaps to the operation that has it latched.
 */
class ForgedSpaceMapTest {
  private static final int ROWS = 400;
  private static final int PAGES_OF_A_TYPE = 4;

  @TempDir Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  private static byte[] key(int i) {
    return bytes("key%06d".formatted(i));
  }

  /** Tables with inner pages, values that share pages and values of many pages, all with holes. */
  private void populate() {
    try (Database db = Samples.open(directory())) {
      List<Table> small =
          List.of(db.getOrCreateTable("a"), db.getOrCreateTable("b"), db.getOrCreateTable("c"));
      Table large = db.getOrCreateTable("large");
      fill(db, large, 10 * ROWS);
      for (Table table : small) {
        fill(db, table, ROWS / 4);
      }
      db.run(tx -> tx.deleteRange(large, key(10), key(9 * ROWS)));
      db.cleanNow();
    }
  }

  private static void fill(Database db, Table table, int rows) {
    for (int i = 0; i < rows; i++) {
      int row = i;
      int length = i % 40 == 0 ? 30_000 : i % 7 == 0 ? 3_000 : 200;
      db.run(tx -> tx.put(table, key(row), random(row, length)));
    }
  }

  /** Everything that claims pages; what is refused is refused by an exception of the project. */
  private void use() {
    try (Database db = Samples.open(directory())) {
      List<Runnable> work =
          List.of(
              db::compact,
              () -> {
                Table table = db.getOrCreateTable("a");
                for (int i = 10; i < 60; i++) {
                  int row = i;
                  int length = i % 10 == 0 ? 30_000 : 2_000;
                  db.run(tx -> tx.put(table, key(row), random(row, length)));
                }
              },
              () -> db.getOrCreateTable("new"),
              db::cleanNow,
              db::compact,
              db::check);
      for (Runnable step : work) {
        try {
          step.run();
        } catch (StorageException told) {
          assertTrue(told.getMessage().contains(DatabaseFiles.DATA), told.getMessage());
        }
      }
    } catch (StorageException told) {
      assertTrue(told.getMessage().contains(DatabaseFiles.DATA), told.getMessage());
    }
  }

  @Test
  void a_map_that_calls_a_page_in_use_free_never_makes_an_operation_wait_for_itself()
      throws IOException {
    populate();
    Path sound = folder.resolve("sound");
    LiveCopy.copy(directory(), sound);
    List<Integer> used = new ArrayList<>();
    for (int type : List.of(Page.INNER, Page.LEAF, Page.IAM, Page.OVERFLOW_HEAD)) {
      PageEdit.pages(directory(), page -> Page.type(page) == type).stream()
          .filter(this::isUsed)
          .limit(PAGES_OF_A_TYPE)
          .forEach(used::add);
    }
    assertTrue(used.size() > 2 * PAGES_OF_A_TYPE, () -> "pages in use: " + used);
    for (int page : used) {
      LiveCopy.copy(sound, directory());
      PageEdit.change(
          directory(),
          SpaceMapPage.mapOf(page),
          map -> {
            int bits = SpaceMapPage.bits(map, page);
            Page.putByte(map, SpaceMapPage.offset(page), bits & ~SpaceMapPage.ALLOCATED);
          });
      use();
    }
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
