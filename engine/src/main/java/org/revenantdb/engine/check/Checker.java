package org.revenantdb.engine.check;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CheckedSequence;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.catalog.Names;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.SlogEntry;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.session.FileFailures;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.recovery.format.KeyHash;

/**
 * Checks that the whole structure, as it was at one moment, is consistent. Every page is reached
 * exactly once, fences are nested, keys are in order, large values are whole, and marks of
 * sequences are within their ranges. The space maps match the reached pages, and each extent is
 * mixed or belongs to one tree. Then it reads every page of the file, including free ones.
 *
 * <p>For one use and one thread, which may read files.
 */
public final class Checker {
  private static final int GAM_DISTANCE = ExtentMapPage.RANGE * ExtentMapPage.PAGES;

  private final Storage storage;
  private final CheckPages pages;
  private final ValueCheck values;
  private final ExtentCheck extents;
  private final FrozenDatabase frozen;
  private final Runnable pace;
  private final List<CheckedTable> tables = new ArrayList<>();
  private final List<TableRow> dropped = new ArrayList<>();
  private final List<SlogEntry> entries = new ArrayList<>();
  private final List<CheckedSequence> sequences = new ArrayList<>();

  /** The ids of all trees that were seen. */
  private final Set<Integer> ids = new HashSet<>();

  private long toClean;
  private long free;

  private record Named(String name, TableRow row) {}

  /**
   * Makes a check.
   *
   * @param frozen the database to check
   * @param pace runs before each page
   */
  Checker(Storage storage, FrozenDatabase frozen, Runnable pace) {
    this.storage = storage;
    this.frozen = frozen;
    this.pace = pace;
    this.pages = new CheckPages(frozen, pace);
    this.values = new ValueCheck(pages);
    this.extents = new ExtentCheck(pages);
  }

  /** Runs a check while no thread is inside the database. */
  public static CheckReport alone(Storage storage) {
    try (FrozenDatabase frozen = new FrozenDatabase(storage)) {
      return new Checker(storage, frozen, () -> {}).check();
    }
  }

  CheckReport check() {
    int limit = frozen.pages();
    for (int id = 0; id < SpaceMapPage.POSITION; id++) {
      pages.reach(id, "header");
    }
    for (int map = SpaceMapPage.POSITION; map < limit; map += SpaceMapPage.GROUP) {
      pages.reach(map, "space map");
    }
    for (int gam = ExtentMapPage.POSITION; gam < limit; gam += GAM_DISTANCE) {
      pages.reach(gam, "GAM");
    }
    List<Named> named = new ArrayList<>();
    CheckedTable catalogue =
        new TreeCheck(
                pages,
                values,
                extents,
                Catalog.TABLE,
                ", the catalogue",
                (page, cell) -> named(page, cell, named))
            .run("", Catalog.ROOT);
    long ownPages = entries.stream().mapToLong(entry -> created(entry, named)).sum();
    named.forEach(table -> tables.add(table(table.name, table.row)));
    long droppedPages = dropped.stream().mapToLong(this::droppedTable).sum();
    frozen.olderValues().forEach(values::older);
    for (int pass = 0; pass < 2; pass++) {
      if (pass == 1) {
        values.unnamed();
      }
      // First the values that wait for the cleaner, to which no row refers, then
      // the remaining pages.
      for (int map = SpaceMapPage.POSITION; map < limit; map += SpaceMapPage.GROUP) {
        map(map, limit, /* last= */ pass == 1);
      }
    }
    extents.compare(limit);
    file(limit);
    return new CheckReport(
        pages.problems(),
        pages.damage().stream().map(FileFailures::toApi).toList(),
        pages.warnings(),
        tables.size(),
        catalogue.rows() + tables.stream().mapToLong(CheckedTable::rows).sum(),
        catalogue.treePages()
            + tables.stream().mapToLong(CheckedTable::treePages).sum()
            + ownPages
            + droppedPages,
        values.pages(),
        toClean,
        free,
        List.copyOf(tables),
        List.copyOf(sequences));
  }

  private void named(MemorySegment page, int cell, List<Named> named) {
    byte[] key = Slotted.keyOf(page, cell);
    byte[] bytes = LeafCell.value(page, cell);
    if (SequenceRow.isKey(key)) {
      sequence(SequenceRow.name(key), bytes);
      return;
    }
    if (SlogEntry.is(bytes) && DroppedTableRow.isKey(key)) {
      entry(key, bytes);
      return;
    }
    if (DroppedTableRow.isKey(key)) {
      dropped(key, bytes);
      return;
    }
    TableRow row = TableRow.of(bytes);
    if (row == null) {
      pages.problem(
          "table "
              + Names.of(key)
              + " has a row of "
              + bytes.length
              + " bytes in the catalogue that cannot be decoded");
      return;
    }
    named.add(new Named(new String(key, StandardCharsets.UTF_8), row));
  }

  private void dropped(byte[] key, byte[] bytes) {
    TableRow row = DroppedTableRow.of(key, bytes);
    if (row != null) {
      dropped.add(row);
    } else {
      pages.problem(
          "the catalogue's entry "
              + Names.of(key)
              + " of a dropped table, of "
              + bytes.length
              + " bytes, cannot be decoded: its pages have leaked");
    }
  }

  /** Checks the trees of a table that a transaction has created, dropped or truncated. */
  private void entry(byte[] key, byte[] bytes) {
    SlogEntry entry = SlogEntry.of(key, bytes);
    if (entry != null) {
      entries.add(entry);
    } else {
      pages.problem(
          "the catalogue's entry "
              + Names.of(key)
              + " of an uncommitted change to a table, of "
              + bytes.length
              + " bytes, cannot be decoded: pages may have leaked");
    }
  }

  /**
   * Checks the trees that only a transaction has: its row may lead to them before it has committed.
   * Trees that it has dropped belong to the table until then. Returns the number of their pages.
   */
  private long created(SlogEntry entry, List<Named> named) {
    String name = new String(entry.name(), StandardCharsets.UTF_8);
    Named row = null;
    for (Named candidate : named) {
      row = candidate.name.equals(name) ? candidate : row;
    }
    boolean isInRow = row != null && row.row.id(0) == entry.trees().id(0);
    if (entry.step() == SlogEntry.Step.DROPPED) {
      if (!isInRow) {
        pages.problem(
            "transaction "
                + entry.transaction()
                + " has dropped a table "
                + Names.of(entry.name())
                + ", and no row refers to its pages: they have leaked");
      }
      return 0;
    }
    named.removeIf(candidate -> isInRow && candidate.name.equals(name));
    return table(name, entry.trees()).treePages();
  }

  /** Checks what is left of a dropped table; returns the number of pages of its trees. */
  private long droppedTable(TableRow row) {
    long treePages = 0;
    demandOwnIds(row, "a dropped table");
    for (int i = 0; i < row.trees(); i++) {
      treePages +=
          TreeCheck.ofDropped(pages, values, extents, row.id(i)).run("", row.root(i)).treePages();
    }
    return treePages;
  }

  /** Demands that no two trees have the same id: pages identify their tree by it. */
  private void demandOwnIds(TableRow row, String whose) {
    for (int i = 0; i < row.trees(); i++) {
      if (!ids.add(row.id(i))) {
        pages.problem(whose + " has the table id " + row.id(i) + ", which another table has, too");
      }
    }
  }

  /** Checks a table with all its trees. */
  private CheckedTable table(String name, TableRow row) {
    String quoted = ", \"" + name + "\"";
    demandOwnIds(row, "table \"" + name + "\"");
    if (row.trees() == 1) {
      return new TreeCheck(pages, values, extents, row.id(0), quoted, TreeCheck.Rows.NONE)
          .run(name, row.root(0));
    }
    List<CheckedTable> partitions = new ArrayList<>();
    for (int i = 0; i < row.trees(); i++) {
      int partition = i;
      String what = quoted + ", partition " + i;
      TreeCheck.Rows home =
          (page, cell) -> home(page, Slotted.keyOf(page, cell), partition, row.trees(), what);
      partitions.add(
          new TreeCheck(pages, values, extents, row.id(i), what, home).run(name, row.root(i)));
    }
    return new CheckedTable(
        name,
        partitions.stream().mapToLong(CheckedTable::rows).sum(),
        partitions.stream().mapToLong(CheckedTable::visibleRows).sum(),
        partitions.stream().mapToInt(CheckedTable::levels).max().orElseThrow(),
        partitions.stream().mapToLong(CheckedTable::treePages).sum(),
        partitions.stream().mapToLong(CheckedTable::overflowPages).sum(),
        partitions.stream().mapToLong(CheckedTable::versionBytes).sum());
  }

  /** Demands that each key lies in the partition of its hash (protocols.md §22, P1). */
  private void home(MemorySegment page, byte[] key, int partition, int partitions, String what) {
    int right = KeyHash.partition(key, partitions);
    if (right != partition) {
      pages.problem(
          "page "
              + Page.id(page)
              + " of table "
              + Slotted.table(page)
              + what
              + ": key "
              + Names.of(key)
              + " belongs to partition "
              + right
              + " by its hash; a read does not find it here");
    }
  }

  private void sequence(byte[] name, byte[] row) {
    String problem = SequenceRow.problem(row);
    if (problem != null) {
      pages.problem("sequence " + Names.of(name) + " " + problem);
      return;
    }
    sequences.add(
        new CheckedSequence(
            new String(name, StandardCharsets.UTF_8),
            SequenceRow.mark(row),
            SequenceRow.count(row)));
  }

  private void map(int mapId, int limit, boolean last) {
    MemorySegment map = pages.read(mapId, "space map");
    if (map == null) {
      return;
    }
    int first = mapId - SpaceMapPage.POSITION;
    if (last) {
      extents.map(map, first, limit);
    }
    for (int i = 0; i < SpaceMapPage.GROUP && first + i < limit; i++) {
      int id = first + i;
      int bits = Page.getByte(map, SpaceMapPage.offset(id));
      boolean allocated = (bits & SpaceMapPage.ALLOCATED) != 0;
      int flags = SpaceMapPage.flags(bits);
      if (last) {
        compare(id, allocated, flags, bits & SpaceMapPage.FULLNESS);
      } else if (allocated && flags != 0 && !pages.isReached(id)) {
        values.waiting(id);
      }
    }
  }

  /** Compares the byte of a page in its space map with the page. */
  private void compare(int id, boolean allocated, int flags, int fullness) {
    if (flags != 0) {
      toClean++;
    }
    if (!allocated) {
      free++;
    }
    if (allocated && pages.isUnreadable() && !pages.isReached(id)) {
      return;
    }
    if (allocated != pages.isReached(id)) {
      pages.problem(
          allocated
              ? "page " + id + " is allocated, but nothing refers to it: it has leaked"
              : "page " + id + " is in use, but its space map marks it as free");
    } else if (flags != pages.flags(id) && !pages.isKnownDamaged(id)) {
      pages.problem(
          "page "
              + id
              + ": its version and ghost bits in the space map are those of flags "
              + flags
              + ", but the page has "
              + pages.flags(id));
    } else if (fullness != values.fullness(id) && !pages.isKnownDamaged(id)) {
      pages.problem(
          "page "
              + id
              + " has fullness "
              + fullness
              + " in the space map, but it is "
              + values.fullness(id));
    }
  }

  /** Checks every page behind the control slots, as it is in the file. */
  private void file(int limit) {
    MemorySegment scratch = MemorySegment.ofArray(new byte[Page.SIZE]);
    for (int id = SpaceMapPage.POSITION; id < limit; id++) {
      if (pages.isKnownDamaged(id)) {
        continue;
      }
      pace.run();
      BufferPool.@Nullable BadInFile bad = storage.pool().problemInFile(id, scratch);
      if (bad == null) {
        continue;
      }
      if (!pages.isReached(id)) {
        pages.warning("page " + id + " is free: " + bad.why().getMessage());
      } else if (bad.isDirty()) {
        pages.warning("page " + id + " will be written anew: " + bad.why().getMessage());
      } else {
        pages.damaged(id, "in the file", bad.why());
      }
    }
  }
}
