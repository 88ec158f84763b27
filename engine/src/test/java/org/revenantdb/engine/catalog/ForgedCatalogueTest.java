package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.random;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.lifecycle.PageEdit;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.Samples;

/**
 * Rows of the catalogue with a good checksum that lead to a tree of another row, or to a page that
 * is no root: the tables concerned are refused, and all other tables go on working.
 */
class ForgedCatalogueTest {
  private static final int ROWS = 400;

  @TempDir Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  private static byte[] key(int i) {
    return bytes("key%06d".formatted(i));
  }

  @BeforeEach
  void populate() {
    try (Database db = Samples.open(directory())) {
      for (String name : List.of("first", "second", "bystander")) {
        fill(db, db.getOrCreateTable(name));
      }
      fill(db, db.getOrCreateTable("parts", TableOptions.hashPartitioned(3)));
      db.cleanNow(); // then a later life has nothing to clean
    }
  }

  private static void fill(Database db, Table table) {
    db.run(tx -> {
      for (int i = 0; i < ROWS; i++) {
        tx.put(table, key(i), random(i, i % 50 == 0 ? 20_000 : 100));
      }
    });
  }

  private static void assertFilled(Database db, String name) {
    Table table = db.findTable(name);
    db.run(tx -> {
      for (int i = 0; i < ROWS; i++) {
        assertArrayEquals(random(i, i % 50 == 0 ? 20_000 : 100), tx.get(table, key(i)));
      }
    });
  }

  private TableRow row(String name) throws IOException {
    MemorySegment page = PageEdit.page(directory(), Catalog.ROOT);
    int slot = SlottedSearch.search(page, bytes(name));
    return TableRow.of(LeafCell.value(page, Slotted.cell(page, slot)));
  }

  private void forge(String name, UnaryOperator<TableRow> change) throws IOException {
    byte[] forged = change.apply(row(name)).bytes();
    PageEdit.change(
        directory(),
        Catalog.ROOT,
        page -> {
          int slot = SlottedSearch.search(page, bytes(name));
          int at = LeafCell.valueOffset(page, Slotted.cell(page, slot));
          for (int i = 0; i < forged.length; i++) {
            Page.putByte(page, at + i, forged[i]);
          }
        });
  }

  private static TableRow of(int id, TableRow like) {
    int[] roots = new int[like.trees()];
    for (int i = 0; i < roots.length; i++) {
      roots[i] = like.root(i);
    }
    return new TableRow(id, roots);
  }

  private static void assertRefused(Database db, String name, String other, int page) {
    CorruptDataException told =
        assertThrows(CorruptDataException.class, () -> db.findTable(name), name);
    assertEquals((long) page * Page.SIZE, told.offset());
    for (String part : List.of(DatabaseFiles.DATA, name, other)) {
      assertTrue(told.getMessage().contains(part), told.getMessage());
    }
    assertFalse(told.cure().isBlank());
    assertThrows(CorruptDataException.class, () -> db.getOrCreateTable(name), name);
  }

  private static void assertOthersWork(Database db) {
    assertFilled(db, "bystander");
    Table table = db.findTable("bystander");
    db.run(tx -> tx.put(table, bytes("more"), new byte[100]));
    db.getOrCreateTable("new");
    for (Runnable maintenance : List.<Runnable>of(db::cleanNow, db::compact, db::checkpoint)) {
      try {
        maintenance.run();
      } catch (StorageException told) {
        assertTrue(told.getMessage().contains(DatabaseFiles.DATA), told.getMessage());
      }
    }
    assertFalse(db.check().isSound());
    assertFilled(db, "bystander");
  }

  /** Pages of the trees and values of tables, to be compared with what they were. */
  private List<byte[]> pagesOf(int... tables) throws IOException {
    List<Integer> ids =
        PageEdit.pages(
            directory(),
            page ->
                (Page.type(page) == Page.LEAF || Page.type(page) == Page.INNER)
                    && Arrays.stream(tables).anyMatch(table -> Slotted.table(page) == table));
    List<byte[]> pages = new ArrayList<>();
    for (int id : ids) {
      pages.add(Page.bytes(PageEdit.page(directory(), id), 0, Page.SIZE));
    }
    return pages;
  }

  private static void assertSame(List<byte[]> before, List<byte[]> after) {
    assertEquals(before.size(), after.size());
    for (int i = 0; i < before.size(); i++) {
      assertArrayEquals(before.get(i), after.get(i));
    }
  }

  @Test
  void two_tables_that_lead_to_one_tree_are_both_refused_and_nothing_of_them_changes()
      throws IOException {
    TableRow first = row("first");
    TableRow second = row("second");
    forge("second", row -> first);
    List<byte[]> before = pagesOf(first.id(0), second.id(0));
    try (Database db = Samples.open(directory())) {
      assertRefused(db, "second", "first", first.root(0));
      assertRefused(db, "first", "second", first.root(0));
      assertOthersWork(db);
    }
    assertSame(before, pagesOf(first.id(0), second.id(0)));
  }

  @Test
  void two_tables_with_one_root_and_two_ids_are_both_refused() throws IOException {
    TableRow first = row("first");
    forge("second", row -> of(row.id(0), first));
    try (Database db = Samples.open(directory())) {
      assertRefused(db, "first", "second", first.root(0));
      assertRefused(db, "second", "first", first.root(0));
      assertOthersWork(db);
    }
  }

  @Test
  void two_tables_with_one_id_and_two_roots_are_both_refused() throws IOException {
    TableRow first = row("first");
    forge("second", row -> of(first.id(0), row));
    try (Database db = Samples.open(directory())) {
      assertRefused(db, "second", "first", Catalog.ROOT);
      assertRefused(db, "first", "second", Catalog.ROOT);
      assertOthersWork(db);
    }
  }

  @Test
  void a_partition_that_is_the_tree_of_another_table_is_refused_with_that_table()
      throws IOException {
    TableRow first = row("first");
    forge("parts", row -> row.withRoot(1, first.root(0)));
    try (Database db = Samples.open(directory())) {
      assertRefused(db, "parts", "first", first.root(0));
      assertRefused(db, "first", "parts", first.root(0));
      assertFilled(db, "second");
      assertOthersWork(db);
    }
  }

  @Test
  void ids_of_partitions_that_reach_into_those_of_another_table_are_refused() throws IOException {
    TableRow parts = row("parts");
    forge("second", row -> of(parts.lastId(), row));
    try (Database db = Samples.open(directory())) {
      assertRefused(db, "parts", "second", Catalog.ROOT);
      assertRefused(db, "second", "parts", Catalog.ROOT);
      assertFilled(db, "first");
      assertOthersWork(db);
    }
  }

  @Test
  void a_root_that_is_a_page_within_its_own_tree_or_of_a_value_or_a_list_is_refused()
      throws IOException {
    TableRow first = row("first");
    int leaf =
        PageEdit.pages(
                directory(),
                page ->
                    Page.type(page) == Page.LEAF
                        && Slotted.table(page) == first.id(0)
                        && Slotted.hasUpperFence(page))
            .getLast();
    int last =
        PageEdit.pages(
                directory(),
                page ->
                    Page.type(page) == Page.LEAF
                        && Slotted.table(page) == first.id(0)
                        && !Slotted.hasUpperFence(page))
            .getLast();
    int head = PageEdit.first(directory(), Page.OVERFLOW_HEAD);
    int list = PageEdit.first(directory(), Page.IAM);
    for (int page : List.of(leaf, last, head, list)) {
      forge("first", row -> row.withRoot(0, page));
      try (Database db = Samples.open(directory())) {
        for (int i = 0; i < ROWS; i += ROWS / 8) {
          int n = i;
          assertThrows(
              CorruptDataException.class,
              () -> db.call(tx -> tx.get(db.findTable("first"), key(n))),
              () -> "page " + page + ", row " + n);
          assertThrows(
              CorruptDataException.class,
              () -> db.run(tx -> tx.put(db.findTable("first"), key(n), new byte[9])),
              () -> "page " + page + ", row " + n);
        }
        assertOthersWork(db);
      }
    }
  }

  /** A killed database with a table that an open transaction has created. */
  private Path killedWithAnEntry() throws IOException {
    Path killed = folder.resolve("killed");
    try (Database db = Samples.open(directory());
        Transaction tx = db.begin()) {
      tx.put(tx.createTable("own"), key(1), new byte[100]);
      db.sync();
      db.checkpoint();
      LiveCopy.copy(directory(), killed);
    }
    return killed;
  }

  @Test
  void what_an_aborted_transaction_has_created_is_not_given_back_if_another_table_has_it()
      throws IOException {
    Path killed = killedWithAnEntry();
    TableRow first = row("first");
    for (boolean withId : new boolean[] {false, true}) {
      LiveCopy.copy(killed, directory());
      PageEdit.change(
          directory(),
          Catalog.ROOT,
          page -> {
            for (int slot = 0; slot < Slotted.count(page); slot++) {
              int cell = Slotted.cell(page, slot);
              byte[] key = Slotted.keyOf(page, cell);
              if (!DroppedTableRow.isKey(key)) {
                continue;
              }
              int value = LeafCell.valueOffset(page, cell);
              Page.putInt(page, value + Integer.BYTES, first.root(0));
              if (withId) {
                Page.putInt(page, value, first.id(0));
                Page.putInt(page, value - Integer.BYTES, Integer.reverseBytes(first.id(0)));
              }
            }
          });
      try (Database db = Samples.open(directory())) {
        assertRefused(db, "first", "own", first.root(0));
        assertRefused(db, "own", "first", first.root(0));
        assertOthersWork(db);
      }
      List<Integer> roots =
          PageEdit.pages(
              directory(),
              page -> Page.id(page) == first.root(0) && Slotted.table(page) == first.id(0));
      assertEquals(List.of(first.root(0)), roots);
      int map = SpaceMapPage.mapOf(first.root(0));
      int bits = SpaceMapPage.bits(PageEdit.page(directory(), map), first.root(0));
      assertTrue((bits & SpaceMapPage.ALLOCATED) != 0, "the root of another table was freed");
    }
  }
}
