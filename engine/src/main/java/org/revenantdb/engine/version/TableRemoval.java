package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.ExtentLists;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.DroppedTables.DroppedTable;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Frees the pages of a dropped table, from the right end of its last tree, step by step. Only the
 * cleaner uses it, when no snapshot is older than the drop.
 */
final class TableRemoval {
  /*
   * Protocol    docs/protocols.md §24.
   *
   * Step        leaves are looked at, up to one with large values, some of which are given to the cleaner; where none
   *             are left, one of: leaves at the right end of the right-most page above them are freed | the right-most
   *             path is freed up to a page that leads elsewhere, too | the right-most path is the whole tree: all but the
   *             root is freed, which is an empty leaf then | extents of the tree are given back | one of their lists is
   *             freed | the root is freed, and the entry gets shorter, or goes
   *
   * Invariants  I1 the record that removes the last link to a page also frees it. So after each record the entry
   *             leads to all pages that still belong to the table, and to no other. I2 a large value leaves its row
   *             by the record that gives it a superseder, because of which the cleaner frees it: it is owned by the
   *             row or by its version bit. I3 leaves that were examined stay without large values: only the cleaner
   *             comes here, and it only removes rows, or restores versions whose values were given to it.
   */
  private static final int CREDIT = 16 * 1024;

  /** The number of leaves that one record frees; each may belong to another space map. */
  private static final int LEAVES = 64;

  /**
   * The number of leaves that one step examines: each may have to be read, and a thread that stops
   * the database waits for the step.
   */
  private static final int LOOKS = 16;

  /** The number of extents that one step frees, each with a separate record. */
  private static final int EXTENTS = 32;

  /**
   * The number of large values that one record gives to the cleaner: a page and a space map each.
   */
  private static final int VALUES = 16;

  /**
   * Credit for pages: a page of the tree or the catalogue, and the maps of the freed pages; or a
   * leaf, pages of large values, and their maps, which are fewer.
   */
  private static final int PAGES = LEAVES + 1;

  private final Storage storage;
  private final BufferPool pool;
  private final Tree catalogue;
  private final MiniTransaction mini;
  private final MapChanges maps;

  /** The right-most path above the leaves, from the root, and how many separators each has. */
  private final int[] path = new int[BufferPool.MAX_LEVELS];

  private final int[] separators = new int[BufferPool.MAX_LEVELS];
  private int depth;

  /** The last leaves under the end of the path, the right-most first. */
  private final int[] leaves = new int[LEAVES];

  /** The beginning of each of them, from the page above. */
  private final byte[][] lowerFences = new byte[LEAVES][];

  private int leafCount;

  /** The number of examined ones. */
  private int lookedAt;

  private final int[] freed = new int[Math.max(LEAVES, BufferPool.MAX_LEVELS + 1)];
  private int freedCount;
  private boolean isBusy;

  private final ExtentLists lists;

  /** The extents of the tree whose pages are freed. */
  private Unit unit = Unit.NONE;

  private final SlottedBuilder empty = new SlottedBuilder();

  /** Values that rows own, and the slots of these. */
  private final ValuePages values;

  private final int[] slots = new int[VALUES];
  private int slotCount;

  /** Makes an object that shares its cleaner's mini-transaction. */
  TableRemoval(Storage storage, Tree catalogue, MiniTransaction mini, MapChanges maps) {
    this.storage = storage;
    this.pool = storage.pool();
    this.catalogue = catalogue;
    this.mini = mini;
    this.maps = maps;
    this.values = new ValuePages(storage, mini, maps);
    this.lists = new ExtentLists(pool, storage.log(), storage.allocator());
  }

  /** Called before the visit of another table, or of a table that was left some time ago. */
  void begin() {
    lookedAt = 0;
  }

  /**
   * Does one step, inside the gate. Returns how many pages it has freed and values it has given to
   * the cleaner; -1 if it must be tried later because a check that held pages back has just ended.
   */
  int step(DroppedTable table) {
    storage.space().acquireToClean(CREDIT, PAGES);
    try {
      findRightMost(table.trees());
      int end = Math.min(leafCount, lookedAt + LOOKS);
      for (; lookedAt < end; lookedAt++) {
        int given = giveValues(leaves[lookedAt], lowerFences[lookedAt], table.trees());
        if (given > 0) {
          return given;
        }
      }
      if (end < leafCount) {
        return 0;
      }
      lookedAt = 0;
      isBusy = false;
      freeRightMost(table);
      return isBusy ? -1 : freedCount;
    } finally {
      storage.space().release(CREDIT, PAGES);
    }
  }

  private void findRightMost(TableRow trees) {
    int last = trees.trees() - 1;
    int page = trees.root(last);
    if (unit.root() != page || unit.table() != trees.id(last)) {
      unit = new Unit(trees.id(last), page);
      unit.load(pool);
    }
    int levelAbove = -1;
    depth = 0;
    leafCount = 0;
    while (leafCount == 0) {
      int frame = pool.fixShared(page);
      try {
        MemorySegment bytes = pool.page(frame);
        int level = Slotted.level(bytes);
        demand(bytes, trees.id(last), levelAbove < 0 ? level : levelAbove - 1);
        if (level == 0) {
          lowerFences[leafCount] = new byte[0];
          leaves[leafCount++] = page; // the root
          return;
        }
        int count = Slotted.count(bytes);
        path[depth] = page;
        separators[depth] = count;
        depth++;
        if (level == 1) {
          for (int at = count - 1; leafCount < LEAVES && (at >= 0 || leafCount == 0); at--) {
            lowerFences[leafCount] =
                at < 0
                    ? Slotted.lowerFence(bytes)
                    : Slotted.key(bytes, at); // the fence in its parent
            leaves[leafCount++] = Slotted.child(bytes, at);
          }
        }
        page = Slotted.child(bytes, count - 1);
        levelAbove = level;
      } finally {
        pool.unfixShared(frame);
      }
    }
  }

  private void demand(MemorySegment page, int table, int level) {
    int type = level == 0 ? Page.LEAF : Page.INNER;
    if (Page.type(page) != type
        || Slotted.table(page) != table
        || Slotted.level(page) != level
        || level >= BufferPool.MAX_LEVELS) {
      throw pool.damage(
          Page.id(page),
          "page "
              + Integer.toUnsignedString(Page.id(page))
              + " is not one of level "
              + level
              + " of the dropped table "
              + table);
    }
  }

  /**
   * Gives some of the large values of a leaf to the cleaner. Returns how many, 0 if there are none.
   */
  private int giveValues(int leafId, byte[] lowerFence, TableRow trees) {
    int leaf = pool.fixExclusive(leafId);
    try {
      demand(pool.page(leaf), trees.lastId(), /* level= */ 0);
      if (!Arrays.equals(lowerFence, Slotted.lowerFence(pool.page(leaf)))) {
        throw pool.damage(
            leafId,
            "page %d of the dropped table %d does not begin where its parent says"
                .formatted(leafId, trees.lastId()));
      }
      collectValues(pool.page(leaf));
      if (slotCount == 0) {
        return 0;
      }
      values.latch();
      mini.begin(0);
      maps.clear();
      RecordBuilder record = mini.change(leaf);
      for (int i = 0; i < slotCount; i++) {
        PageOps.remove(record, slots[i]); // the last come first
      }
      mini.end();
      values.write();
      maps.latchAndWrite(mini);
      mini.commit();
      values.mark();
      return slotCount;
    } finally {
      maps.unlatch();
      values.unlatch();
      pool.unfixExclusive(leaf);
    }
  }

  /**
   * The values that rows own: those of the last committed versions. All other values have been, or
   * will be, freed by their version bit. These will be as well: they are superseded by their own
   * writer, which has committed.
   */
  private void collectValues(MemorySegment page) {
    slotCount = 0;
    values.clear();
    for (int slot = Slotted.count(page) - 1; slot >= 0 && slotCount < VALUES; slot--) {
      int cell = Slotted.cell(page, slot);
      boolean current = LeafCell.is(page, cell, LeafCell.OVERFLOW);
      boolean predecessor = LeafCell.is(page, cell, LeafCell.PREDECESSOR_OVERFLOW);
      if (!current && !predecessor) {
        continue;
      }
      long status = storage.transactions().outcome(LeafCell.writer(page, cell));
      if (status == TransactionTable.ACTIVE) {
        throw pool.damage(
            Page.id(page),
            "slot %d of page %d of the dropped table %d is of transaction %d, which has not ended"
                .formatted(slot, Page.id(page), Slotted.table(page), LeafCell.writer(page, cell)));
      }
      boolean aborted = status == TransactionTable.ABORTED;
      if (aborted ? predecessor : current) {
        int reference =
            aborted ? LeafCell.predecessorOffset(page, cell) : LeafCell.valueOffset(page, cell);
        long writer =
            aborted ? LeafCell.predecessorWriter(page, cell) : LeafCell.writer(page, cell);
        values.add(ValueReference.of(page, reference), writer, writer);
        slots[slotCount++] = slot;
      }
    }
  }

  private void freeRightMost(DroppedTable table) {
    freedCount = 0;
    int end = depth - 1;
    if (end >= 0 && separators[end] > 0) {
      for (int i = 0; i < leafCount; i++) {
        freed[freedCount++] = leaves[i];
      }
      freeBelow(end, freedCount);
      return;
    }
    if (end < 0) {
      if (!giveBackExtents() && !lists.removeFirst(unit)) {
        freeLastWithEntry(table);
      }
      return;
    }
    freed[freedCount++] = leaves[0];
    while (end > 0 && separators[end] == 0) {
      freed[freedCount++] = path[end--];
    }
    if (separators[end] > 0) {
      freeBelow(end, 1);
    } else {
      freeAllButRoot();
    }
  }

  /**
   * Frees some of the tree's extents, which have no used page any more. Returns whether there were
   * any.
   */
  private boolean giveBackExtents() {
    int extent = -1;
    for (int i = 0; i < EXTENTS; i++) {
      extent = storage.allocator().nextExtent(unit, extent + 1);
      if (extent < 0) {
        return i > 0;
      }
      Allocator.Emptied outcome = storage.allocator().giveBack(extent, unit);
      if (outcome == Allocator.Emptied.BUSY) {
        isBusy = true;
        return true;
      }
      if (outcome == Allocator.Emptied.IN_USE) {
        throw pool.damage(
            ExtentMapPage.firstPage(extent),
            "a page of the extent that begins at page "
                + ExtentMapPage.firstPage(extent)
                + " is in use, but no page of the dropped table refers to it any more: table "
                + unit.table());
      }
    }
    return true;
  }

  /**
   * Frees all pages except the root, which becomes an empty leaf: it still leads to the lists of
   * extents.
   */
  private void freeAllButRoot() {
    int root = pool.fixExclusive(unit.root());
    try {
      empty.begin(0, unit.table(), new byte[0], null);
      empty.iam(Slotted.iam(pool.page(root)));
      mini.begin(0);
      PageOps.image(mini.format(root), empty);
      mini.end();
      commitFree();
    } finally {
      maps.unlatch();
      pool.unfixExclusive(root);
    }
    giveBack();
  }

  /** Frees the collected pages, and removes the last separators from the page above them. */
  private void freeBelow(int end, int children) {
    int frame = pool.fixExclusive(path[end]);
    try {
      mini.begin(0);
      RecordBuilder record = mini.change(frame);
      for (int i = 1; i <= children; i++) {
        PageOps.remove(record, separators[end] - i);
      }
      mini.end();
      commitFree();
    } finally {
      maps.unlatch();
      pool.unfixExclusive(frame);
    }
    giveBack();
  }

  private void freeLastWithEntry(DroppedTable table) {
    TableRow trees = table.trees();
    freed[freedCount++] = unit.root();
    byte[] key = DroppedTableRow.key(trees.id(0));
    int frame = catalogue.leafExclusive(key, new Descent());
    try {
      int slot = SlottedSearch.search(pool.page(frame), key);
      if (slot < 0) {
        throw catalogue.misplaced(pool.page(frame));
      }
      mini.begin(0);
      RecordBuilder record = mini.change(frame);
      if (trees.trees() == 1) {
        PageOps.remove(record, slot);
      } else {
        byte[] shorter = trees.withoutLast().bytes();
        PageOps.replace(record, slot, LeafCell.build(key, 0, 0, shorter));
      }
      mini.end();
      commitFree();
      table.lastTreeGone();
    } finally {
      maps.unlatch();
      pool.unfixExclusive(frame);
    }
    giveBack();
  }

  private void commitFree() {
    maps.clear();
    for (int i = 0; i < freedCount; i++) {
      mini.free(freed[i]);
      maps.set(freed[i], 0);
    }
    maps.latchAndWrite(mini);
    mini.commit();
    for (int i = 0; i < freedCount; i++) {
      storage.marks().clear(freed[i]);
    }
  }

  private void giveBack() {
    for (int i = 0; i < freedCount; i++) {
      storage.allocator().release(unit, freed[i]);
    }
  }
}
