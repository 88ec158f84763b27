package org.revenantdb.engine.check;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.random;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.lifecycle.PageEdit;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.testing.Samples;

/**
 * Pages with a good checksum that lead where they must not: nothing of another owner is read, moved
 * or freed, nothing waits or loops for ever, and all other tables go on working.
 */
class HostilePagesTest {
  private static final int NEIGHBOUR_ROWS = 2_000;
  private static final int LARGE = 40_000_000;

  @TempDir Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  /** A table whose rows have to survive, and what the test adds; closed. */
  private void populate(Consumer<Database> more) {
    try (Database db = Samples.open(directory())) {
      Table neighbour = db.getOrCreateTable("neighbour");
      for (int i = 0; i < NEIGHBOUR_ROWS; i += 100) {
        int first = i;
        db.run(tx -> {
          for (int j = first; j < first + 100; j++) {
            tx.put(neighbour, key(j), random(j, 100));
          }
        });
      }
      more.accept(db);
    }
  }

  private static byte[] key(int i) {
    return bytes("key%06d".formatted(i));
  }

  private static void putLarge(Database db, int length) {
    Table table = db.getOrCreateTable("large");
    db.run(tx -> {
      try {
        tx.put(table, bytes("v"), new ByteArrayInputStream(random(7, length)));
      } catch (IOException impossible) {
        throw new UncheckedIOException(impossible);
      }
    });
  }

  private static void assertNeighbour(Database db) {
    Table neighbour = db.findTable("neighbour");
    db.run(tx -> {
      for (int j = 0; j < NEIGHBOUR_ROWS; j++) {
        assertArrayEquals(random(j, 100), tx.get(neighbour, key(j)));
      }
    });
  }

  private int leafOfNeighbour() throws IOException {
    int table = tableOf("neighbour");
    return PageEdit.pages(
            directory(), page -> Page.type(page) == Page.LEAF && Slotted.table(page) == table)
        .getLast();
  }

  private int tableOf(String name) throws IOException {
    MemorySegment catalogue = PageEdit.page(directory(), 5);
    int slot = SlottedSearch.search(catalogue, bytes(name));
    return Page.getInt(
        MemorySegment.ofArray(LeafCell.value(catalogue, Slotted.cell(catalogue, slot))), 0);
  }

  private static void deleteLarge(Database db) {
    Table table = db.findTable("large");
    try {
      db.run(tx -> tx.delete(table, bytes("v")));
      db.cleanNow();
    } catch (StorageException told) {
      assertFalse(told.problem().isBlank());
    }
  }

  private void assertReported(Database db) {
    CheckReport report = db.check();
    assertFalse(report.isSound(), "the check has seen nothing");
  }

  @Test
  void a_head_that_names_a_page_of_another_table_does_not_destroy_it() throws IOException {
    populate(db -> putLarge(db, 100_000));
    int leaf = leafOfNeighbour();
    PageEdit.change(
        directory(),
        PageEdit.first(directory(), Page.OVERFLOW_HEAD),
        head -> Page.putInt(head, OverflowPage.idOffset(2), leaf));
    try (Database db = Samples.open(directory())) {
      assertNeighbour(db);
      Table table = db.findTable("large");
      assertThrows(CorruptDataException.class, () -> db.call(tx -> tx.get(table, bytes("v"))));
      assertReported(db);
      deleteLarge(db);
      assertNeighbour(db);
    }
    try (Database db = Samples.open(directory())) {
      assertNeighbour(db);
    }
  }

  @Test
  void a_head_that_names_a_data_page_of_another_value_does_not_take_it_away() throws IOException {
    populate(db -> {
      putLarge(db, 100_000);
      db.run(tx -> tx.put(db.getOrCreateTable("other"), bytes("o"), random(9, 100_000)));
    });
    List<Integer> heads =
        PageEdit.pages(directory(), page -> Page.type(page) == Page.OVERFLOW_HEAD);
    assertEquals(2, heads.size());
    int foreign = OverflowPage.id(PageEdit.page(directory(), heads.get(1)), 3);
    PageEdit.change(
        directory(), heads.get(0), head -> Page.putInt(head, OverflowPage.idOffset(3), foreign));
    try (Database db = Samples.open(directory())) {
      assertReported(db);
      deleteLarge(db);
      byte[] other = db.call(tx -> tx.get(db.findTable("other"), bytes("o")));
      assertArrayEquals(random(9, 100_000), other);
    }
  }

  @Test
  void a_head_that_names_itself_is_refused_and_cleaner_and_close_end() throws IOException {
    populate(db -> putLarge(db, 100_000));
    int head = PageEdit.first(directory(), Page.OVERFLOW_HEAD);
    for (int field : new int[] {OverflowPage.NEXT_INDEX, OverflowPage.idOffset(0)}) {
      PageEdit.change(directory(), head, page -> Page.putInt(page, field, head));
      try (Database db = Samples.open(directory())) {
        CorruptDataException told =
            assertThrows(
                CorruptDataException.class,
                () -> db.call(tx -> tx.get(db.findTable("large"), bytes("v"))));
        assertEquals((long) head * Page.SIZE, told.offset());
        assertReported(db);
        deleteLarge(db);
        assertNeighbour(db);
      }
    }
  }

  @Test
  void a_chain_of_index_pages_that_leads_back_ends_for_all_readers() throws IOException {
    populate(db -> putLarge(db, LARGE));
    List<Integer> index =
        PageEdit.pages(directory(), page -> Page.type(page) == Page.OVERFLOW_INDEX);
    assertTrue(index.size() >= 2, "index pages: " + index);
    int last = index.stream().filter(id -> next(id) == 0).findFirst().orElseThrow();
    int before = index.stream().filter(id -> next(id) == last).findFirst().orElseThrow();
    PageEdit.change(directory(), last, page -> Page.putInt(page, OverflowPage.NEXT_INDEX, before));
    try (Database db = Samples.open(directory())) {
      assertThrows(
          CorruptDataException.class,
          () -> db.call(tx -> tx.get(db.findTable("large"), bytes("v"))));
      assertReported(db);
      assertThrowsOrEnds(db::compact);
      deleteLarge(db);
      assertNeighbour(db);
    }
  }

  private int next(int index) {
    try {
      return OverflowPage.nextIndex(PageEdit.page(directory(), index));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static void assertThrowsOrEnds(Runnable call) {
    try {
      call.run();
    } catch (StorageException told) {
      assertFalse(told.problem().isBlank());
    }
  }

  @Test
  void a_length_of_a_gigabyte_on_few_pages_is_refused_before_memory_is_taken() throws IOException {
    populate(db -> putLarge(db, 100_000));
    long absurd = 1L << 30;
    PageEdit.change(
        directory(),
        PageEdit.first(directory(), Page.OVERFLOW_HEAD),
        head -> Page.putLong(head, OverflowPage.LENGTH, absurd));
    int table = tableOf("large");
    int leaf =
        PageEdit.pages(
                directory(),
                page ->
                    Page.type(page) == Page.LEAF
                        && Slotted.table(page) == table
                        && Slotted.count(page) == 1)
            .getFirst();
    PageEdit.change(
        directory(),
        leaf,
        page -> Page.putLong(page, LeafCell.valueOffset(page, Slotted.cell(page, 0)) + 4, absurd));
    try (Database db = Samples.open(directory())) {
      CorruptDataException told =
          assertThrows(
              CorruptDataException.class,
              () -> db.call(tx -> tx.get(db.findTable("large"), bytes("v"))));
      assertTrue(told.getMessage().contains("data pages"), told.getMessage());
      assertReported(db);
    }
  }

  @Test
  void a_row_that_leads_to_a_page_of_its_own_tree_is_damage_for_reader_and_writer()
      throws IOException {
    populate(db -> {
      putLarge(db, 100_000);
      db.run(tx -> tx.put(db.findTable("large"), bytes("w"), new byte[10]));
    });
    int leaf = leafOfNeighbour();
    int table = tableOf("large");
    int own =
        PageEdit.pages(
                directory(), page -> Page.type(page) == Page.LEAF && Slotted.table(page) == table)
            .getFirst();
    for (int target : new int[] {leaf, own}) {
      PageEdit.change(
          directory(),
          own,
          page -> {
            int slot = SlottedSearch.search(page, bytes("v"));
            Page.putInt(page, LeafCell.valueOffset(page, Slotted.cell(page, slot)), target);
          });
      try (Database db = Samples.open(directory())) {
        assertThrows(
            CorruptDataException.class,
            () -> db.call(tx -> tx.get(db.findTable("large"), bytes("v"))));
        assertThrows(
            CorruptDataException.class,
            () -> db.run(tx -> tx.put(db.findTable("large"), bytes("v"), new byte[3])));
        assertReported(db);
        assertThrowsOrEnds(db::compact);
        assertNeighbour(db);
      }
    }
  }

  @Test
  void lists_of_extents_that_lead_back_or_name_an_absurd_range_end_what_follows_them()
      throws IOException {
    populate(db -> {});
    int list = PageEdit.first(directory(), Page.IAM);
    MemorySegment good = PageEdit.page(directory(), list);
    record Change(int field, int value) {}
    for (Change change :
        List.of(
            new Change(ExtentMapPage.RANGE_NUMBER, Integer.MAX_VALUE),
            new Change(ExtentMapPage.RANGE_NUMBER, -1),
            new Change(ExtentMapPage.RANGE_NUMBER, 1 << 28),
            new Change(ExtentMapPage.NEXT, list),
            new Change(ExtentMapPage.NEXT, leafOfNeighbour()),
            new Change(ExtentMapPage.TABLE, 77))) {
      PageEdit.change(
          directory(),
          list,
          page -> {
            MemorySegment.copy(good, 0, page, 0, Page.SIZE);
            Page.putInt(page, change.field, change.value);
          });
      try (Database db = Samples.open(directory())) {
        assertNeighbour(db);
        assertReported(db);
        assertThrowsOrEnds(db::compact);
        assertThrowsOrEnds(db::cleanNow);
        db.run(tx -> tx.put(db.getOrCreateTable("third"), bytes("k"), new byte[10]));
      }
    }
  }

  @Test
  void an_inner_page_that_leads_back_to_the_root_or_into_another_tree_is_damage()
      throws IOException {
    populate(db -> {
      Table t = db.getOrCreateTable("t");
      for (int i = 0; i < 20; i++) {
        int first = 1_000 * i;
        db.run(tx -> {
          for (int j = first; j < first + 1_000; j++) {
            tx.put(t, key(j), random(j, 40));
          }
        });
      }
    });
    int table = tableOf("t");
    int root =
        PageEdit.pages(
                directory(),
                page ->
                    Page.type(page) == Page.INNER
                        && Slotted.table(page) == table
                        && !Slotted.hasUpperFence(page))
            .getFirst();
    MemorySegment good = PageEdit.page(directory(), root);
    int other = leafOfNeighbour();
    int head = 5;
    for (int target : new int[] {other, head, root}) {
      PageEdit.change(
          directory(),
          root,
          page -> {
            MemorySegment.copy(good, 0, page, 0, Page.SIZE);
            Page.putInt(page, Slotted.LEFTMOST_CHILD, target);
          });
      try (Database db = Samples.open(directory())) {
        assertNeighbour(db);
        assertThrows(
            CorruptDataException.class, () -> db.call(tx -> tx.get(db.findTable("t"), key(0))));
        assertThrows(
            CorruptDataException.class,
            () -> db.run(tx -> tx.put(db.findTable("t"), key(0), new byte[5])));
        assertReported(db);
        assertThrowsOrEnds(db::compact);
        assertNeighbour(db);
      }
    }
  }
}
