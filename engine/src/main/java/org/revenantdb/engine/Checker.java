package org.revenantdb.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.InnerCell;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.PageBitmap;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.recovery.file.StorageException;

/**
 * Compares the whole structure with itself: every page reached exactly once, fences nested, keys in
 * order, large values whole, and the space maps saying just what was reached.
 *
 * <p>Runs while nobody is inside the database. One use, one thread.
 */
final class Checker {
  private static final int MAX_PROBLEMS = 100;

  private final Storage storage;
  private final BufferPool pool;
  private final Catalog catalog;
  private final List<String> problems = new ArrayList<>();
  private final List<StorageException> damage = new ArrayList<>();
  private final PageBitmap reached = new PageBitmap();
  private final PageBitmap versions = new PageBitmap();
  private final PageBitmap heads = new PageBitmap();
  private int tables;
  private long rows;
  private long treePages;
  private long overflowPages;
  private long toClean;
  private long free;

  /** Some page could not be read, so what it leads to is not known. */
  private boolean unreadable;

  Checker(Storage storage, Catalog catalog) {
    this.storage = storage;
    this.pool = storage.pool();
    this.catalog = catalog;
  }

  CheckReport check() {
    reached.set(0);
    reached.set(1);
    reached.set(2);
    int limit = storage.allocator().pages();
    for (int map = SpaceMapPage.POSITION; map < limit; map += SpaceMapPage.GROUP) {
      reached.set(map);
    }
    tree(catalog.tree());
    try {
      for (Table table : catalog.tables()) {
        tables++;
        tree(table.tree());
      }
    } catch (StorageException e) {
      // The damaged page has been named above; the tables behind it cannot be found.
      unreadable = true;
    }
    for (int pass = 0; pass < 2; pass++) {
      // First the values that wait for the cleaner, which no row names, then what is left over.
      for (int map = SpaceMapPage.POSITION; map < limit; map += SpaceMapPage.GROUP) {
        map(map, limit, /* last= */ pass == 1);
      }
    }
    return new CheckReport(
        List.copyOf(problems),
        List.copyOf(damage),
        tables,
        rows,
        treePages,
        overflowPages,
        toClean,
        free);
  }

  /** Tells whether it is listed now and was not before: maps are looked at twice. */
  private boolean problem(String text) {
    return problems.size() < MAX_PROBLEMS && !problems.contains(text) && problems.add(text);
  }

  private void tree(Tree tree) {
    MemorySegment root = copy(tree.root(), "root of table " + tree.table());
    if (root != null) {
      page(tree, tree.root(), root, Slotted.level(root), new byte[0], null);
    }
  }

  /** A copy of a page, or null if it cannot be read, which is a problem then. */
  private @Nullable MemorySegment copy(int pageId, String what) {
    if (Integer.compareUnsigned(pageId, storage.allocator().pages()) >= 0) {
      problem("page " + pageId + " (" + what + ") lies beyond the end of the data file");
      return null;
    }
    try {
      int frame = pool.fixShared(pageId);
      try {
        return MemorySegment.ofArray(Page.bytes(pool.page(frame), 0, Page.SIZE));
      } finally {
        pool.unfixShared(frame);
      }
    } catch (StorageException e) {
      unreadable = true;
      if (problem(what + ": " + e.getMessage())) {
        damage.add(e);
      }
      return null;
    }
  }

  private void page(
      Tree tree, int id, MemorySegment page, int level, byte[] lower, byte @Nullable [] upper) {
    String what = "page " + id + " of table " + tree.table();
    if (!reached.set(id)) {
      problem(what + " is reached twice");
      return;
    }
    treePages++;
    int type = level == 0 ? Page.LEAF : Page.INNER;
    if (Page.type(page) != type
        || Slotted.level(page) != level
        || Slotted.table(page) != tree.table()) {
      problem(
          what
              + " has type "
              + Page.type(page)
              + ", level "
              + Slotted.level(page)
              + ", table "
              + Slotted.table(page)
              + "; expected type "
              + type
              + ", level "
              + level);
      return;
    }
    if (!Arrays.equals(lower, Slotted.lowerFence(page))
        || Slotted.hasUpperFence(page) != (upper != null)
        || (upper != null && !Arrays.equals(upper, Slotted.upperFence(page)))) {
      problem(what + " has other fences than its parent says");
    }
    if (Page.hasVersions(page)) {
      versions.set(id);
    }
    int count = Slotted.count(page);
    byte[] before = null;
    for (int slot = 0; slot < count; slot++) {
      byte[] key = Slotted.key(page, slot);
      if (before != null && Arrays.compareUnsigned(before, key) >= 0) {
        problem(what + ": keys of slots " + (slot - 1) + " and " + slot + " are not in order");
      }
      before = key;
      if (!Slotted.covers(page, key)) {
        problem(what + ": the key of slot " + slot + " lies outside the fences");
      }
    }
    if (level == 0) {
      rows += count;
      for (int slot = 0; slot < count; slot++) {
        row(page, Slotted.cell(page, slot), what + ", slot " + slot);
      }
      return;
    }
    for (int slot = -1; slot < count; slot++) {
      int child = Slotted.child(page, slot);
      byte[] from = slot < 0 ? lower : InnerCell.key(page, Slotted.cell(page, slot));
      byte[] to = slot + 1 < count ? InnerCell.key(page, Slotted.cell(page, slot + 1)) : upper;
      MemorySegment below = copy(child, "child " + slot + " of " + what);
      if (below != null) {
        page(tree, child, below, level - 1, from, to);
      }
    }
  }

  private void row(MemorySegment page, int cell, String what) {
    if (LeafCell.writer(page, cell) > Slotted.maxWriter(page)) {
      problem(what + " has a higher writer than the page says");
    }
    if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
      int at = LeafCell.valueOffset(page, cell);
      int head = LeafCell.referenceHead(page, at);
      // An aborted value may be gone before its row.
      boolean mustExist =
          storage.transactions().status(LeafCell.writer(page, cell)) != TransactionTable.ABORTED;
      value(head, LeafCell.referenceLength(page, at), LeafCell.writer(page, cell), mustExist, what);
    }
    if (LeafCell.is(page, cell, LeafCell.PREDECESSOR_OVERFLOW)) {
      int at = LeafCell.predecessorOffset(page, cell);
      // Under a version that every snapshot sees the predecessor may be gone: nobody follows it any
      // more.
      long status = storage.transactions().status(LeafCell.writer(page, cell));
      boolean mustExist = status == TransactionTable.ACTIVE || status == TransactionTable.ABORTED;
      value(
          LeafCell.referenceHead(page, at),
          LeafCell.referenceLength(page, at),
          LeafCell.predecessorWriter(page, cell),
          mustExist,
          what + " (predecessor)");
    }
  }

  private void value(int head, long length, long writer, boolean mustExist, String what) {
    if (!mustExist) {
      // What is still there is found by its version bit.
      return;
    }
    MemorySegment page = copy(head, "value of " + what);
    if (page == null) {
      return;
    }
    if (Page.type(page) != Page.OVERFLOW_HEAD || OverflowPage.writer(page) != writer) {
      problem(what + ": page " + head + " is not the head of its value");
      return;
    }
    if (OverflowPage.length(page) != length) {
      problem(what + ": its value has " + OverflowPage.length(page) + " bytes, not " + length);
    }
    if (!heads.set(head)) {
      problem(what + ": page " + head + " is the value of another row, too");
      return;
    }
    boolean unreadableBefore = unreadable;
    unreadable = false;
    long bytes = chain(head, page, what);
    if (bytes != length && !unreadable) {
      problem(what + ": the pages of its value hold " + bytes + " bytes, not " + length);
    }
    unreadable |= unreadableBefore;
  }

  private long chain(int head, MemorySegment first, String what) {
    heads.set(head);
    if (Page.hasVersions(first)) {
      versions.set(head);
    }
    long bytes = OverflowPage.inline(first);
    MemorySegment page = first;
    int id = head;
    while (true) {
      overflow(id, what);
      int count = OverflowPage.count(page);
      for (int i = 0; i < count; i++) {
        int data = OverflowPage.id(page, i);
        overflow(data, what);
        MemorySegment dataPage = copy(data, "data page of " + what);
        if (dataPage != null) {
          if (Page.type(dataPage) != Page.OVERFLOW_DATA) {
            problem(what + ": page " + data + " is no data page of a value");
          }
          bytes += OverflowPage.count(dataPage);
        }
      }
      id = OverflowPage.nextIndex(page);
      if (id == 0) {
        return bytes;
      }
      MemorySegment next = copy(id, "index page of " + what);
      if (next == null || Page.type(next) != Page.OVERFLOW_INDEX) {
        problem(what + ": page " + id + " is no index page of a value");
        return bytes;
      }
      page = next;
    }
  }

  private void overflow(int id, String what) {
    overflowPages++;
    if (!reached.set(id)) {
      problem(what + ": page " + id + " is used twice");
    }
  }

  private void map(int mapId, int limit, boolean last) {
    MemorySegment map = copy(mapId, "space map");
    if (map == null) {
      return;
    }
    int first = mapId - SpaceMapPage.POSITION;
    for (int i = 0; i < SpaceMapPage.GROUP && first + i < limit; i++) {
      int id = first + i;
      int bits = Page.getByte(map, SpaceMapPage.offset(id));
      boolean allocated = (bits & SpaceMapPage.ALLOCATED) != 0;
      boolean version = (bits & SpaceMapPage.VERSION) != 0;
      if (!last) {
        if (allocated && version && !reached.contains(id)) {
          MemorySegment page = copy(id, "page with a version bit");
          if (page != null && Page.type(page) == Page.OVERFLOW_HEAD) {
            chain(id, page, "value at page " + id + ", which waits for the cleaner");
          }
        }
        continue;
      }
      if (version) {
        toClean++;
      }
      if (!allocated) {
        free++;
      }
      if (allocated && unreadable && !reached.contains(id)) {
        continue;
      }
      if (allocated != reached.contains(id)) {
        problem(
            allocated
                ? "page " + id + " is allocated, but nothing leads to it: it has leaked"
                : "page " + id + " is in use, but its space map calls it free");
      } else if (version != versions.contains(id)) {
        problem(
            "page "
                + id
                + ": its version bit is "
                + version
                + " in the space map, but not on the page");
      }
    }
  }
}
