package org.revenantdb.engine.catalog;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * One record that changes rows of the catalogue, all of them or none, and makes new trees.
 *
 * <p>Order of calls: first the changes, each key once; then {@link #publish}. Inside the gate, by
 * one thread, with nothing latched.
 *
 * <p>Failure: nothing has changed, except that leaves of the catalogue may have been split.
 */
final class CatalogueRecord {
  /*
   * Protocol    docs/protocols.md §13, §22, §24, §31, with what a crash leaves.
   *
   * Latches     Rows may be in several leaves. All pages on the way to each are latched exclusively, from the root
   *             down, the way to the first key first (R19). There is no deadlock with other threads: no thread holds
   *             a page to the right of one that this record waits for while it needs a page to the left of it. Such a
   *             thread has passed the root before, and the pages that it still needs lie below those that it holds. A
   *             single row is found like any other row. Then new pages, which no other thread knows; then space maps.
   */
  private static final int CREDIT = 32 * 1024;

  /**
   * A change of one row. Without a value the row is removed; without a former cell it is inserted.
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Change(byte[] key, byte @Nullable [] cell, boolean comes) {
    int room() {
      return comes && cell != null ? cell.length + Slotted.LEAF_SLOT : 0;
    }
  }

  private final Storage storage;
  private final BufferPool pool;
  private final Tree catalogue;
  private final CatalogueTools tools;
  private final long transaction;
  private final List<Change> changes = new ArrayList<>();
  private int[] frames = {};
  private int latched;
  private byte[] full = {};
  private int need;

  /**
   * Makes a record without changes.
   *
   * @param tools tools that no other thread uses meanwhile
   * @param transaction the transaction whose id it writes to the catalogue, 0 for none
   */
  CatalogueRecord(Storage storage, CatalogueTools tools, Tree catalogue, long transaction) {
    this.storage = storage;
    this.pool = storage.pool();
    this.catalogue = catalogue;
    this.tools = tools;
    this.transaction = transaction;
  }

  /** Inserts a row with a new key. */
  CatalogueRecord insert(byte[] key, byte[] value) {
    return change(new Change(key, LeafCell.build(key, 0, 0, value), /* comes= */ true));
  }

  /** Replaces the value of a row by one that is not longer. */
  CatalogueRecord replace(byte[] key, byte[] value) {
    return change(new Change(key, LeafCell.build(key, 0, 0, value), /* comes= */ false));
  }

  /** Removes a row. */
  CatalogueRecord remove(byte[] key) {
    return change(new Change(key, null, /* comes= */ false));
  }

  private CatalogueRecord change(Change change) {
    changes.add(change);
    changes.sort(Comparator.comparing(Change::key, Arrays::compareUnsigned));
    return this;
  }

  /** As {@link #publish(CataloguePages, Publication)}, at any place among commits. */
  long publish(@Nullable CataloguePages trees) {
    return publish(trees, Publication.ANYWHERE);
  }

  /**
   * Publishes the record. May wait for credit.
   *
   * @param trees claimed pages of trees that it makes or moves; or null
   * @param order runs each attempt to publish it, with credit in hand and nothing latched
   * @return its LSN
   * @throws org.revenantdb.recovery.file.DiskFullException if there is no room for the log, or for
   *     another leaf
   */
  long publish(@Nullable CataloguePages trees, Publication order) {
    while (true) {
      int pages = changes.size() + (trees == null ? 0 : trees.pages());
      acquire(pages);
      try {
        long lsn = order.publish(() -> tryPublish(trees));
        if (lsn != 0) {
          return lsn;
        }
      } finally {
        storage.space().release(CREDIT, pages);
      }
      makeRoom();
    }
  }

  /**
   * Publishes a record that makes nothing longer, if there is credit at once.
   *
   * @return its LSN, or 0
   */
  long publishAtOnce() {
    if (!storage.space().tryAcquire(CREDIT, changes.size())) {
      return 0;
    }
    try {
      return tryPublish(null);
    } finally {
      storage.space().release(CREDIT, changes.size());
    }
  }

  /**
   * Takes credit. A record that makes nothing longer cleans up after others, and is not slowed down
   * like them.
   */
  private void acquire(int pages) {
    if (changes.stream().anyMatch(Change::comes)) {
      storage.space().acquire(CREDIT, pages);
    } else {
      storage.space().acquireToClean(CREDIT, pages);
    }
  }

  /** Tries to publish it; returns its LSN, or 0 if a leaf has no room. */
  private long tryPublish(@Nullable CataloguePages trees) {
    int[] leaves = new int[changes.size()];
    tools.maps().clear();
    try {
      latch(leaves);
      if (!hasRoom(leaves)) {
        return 0;
      }
      MiniTransaction mini = tools.mini();
      if (trees != null) {
        trees.fix();
      }
      mini.begin(transaction);
      if (trees != null) {
        trees.format(tools);
      }
      write(mini, leaves);
      tools.maps().latchAndWrite(mini);
      long lsn = mini.commit();
      if (trees != null) {
        trees.logged();
      }
      return lsn;
    } finally {
      tools.maps().unlatch();
      if (trees != null) {
        trees.unfix();
      }
      while (latched > 0) {
        pool.unfixExclusive(frames[--latched]);
      }
    }
  }

  private void latch(int[] leaves) {
    if (changes.size() == 1) {
      frames = new int[1];
      leaves[0] = catalogue.leafExclusive(changes.getFirst().key, new Descent());
      frames[latched++] = leaves[0];
      return;
    }
    frames = new int[changes.size() * BufferPool.MAX_LEVELS];
    for (int i = 0; i < leaves.length; i++) {
      leaves[i] = latchPath(changes.get(i).key);
    }
  }

  /** Latches the pages from the root to the leaf of a key that are not latched yet. */
  private int latchPath(byte[] to) {
    int frame = latchRoot();
    for (int level = Slotted.level(pool.page(frame)); level > 0; level--) {
      MemorySegment page = pool.page(frame);
      frame = latchChild(Slotted.child(page, SlottedSearch.childPosition(page, to)), level - 1);
    }
    catalogue.demandCovers(pool.page(frame), to);
    return frame;
  }

  private int latchRoot() {
    if (latched == 0) {
      frames[latched++] = catalogue.rootExclusive();
    }
    return frames[0];
  }

  private int latchChild(int pageId, int level) {
    for (int i = 0; i < latched; i++) {
      if (pool.pageIdOf(frames[i]) == pageId) {
        if (Slotted.level(pool.page(frames[i])) != level) {
          throw catalogue.misplaced(pool.page(frames[i]));
        }
        return frames[i];
      }
    }
    frames[latched] = catalogue.childExclusive(pageId, level);
    return frames[latched++];
  }

  /**
   * Whether each leaf has room for its new rows; otherwise records which leaf has not, and how much
   * it needs.
   */
  private boolean hasRoom(int[] leaves) {
    for (int i = 0; i < leaves.length; i++) {
      if (changes.get(i).room() == 0) {
        continue;
      }
      int room = 0;
      for (int other = 0; other < leaves.length; other++) {
        room += leaves[other] == leaves[i] ? changes.get(other).room() : 0;
      }
      if (Slotted.free(pool.page(leaves[i])) < room) {
        full = changes.get(i).key;
        need = room;
        return false;
      }
    }
    return true;
  }

  /**
   * Writes the changes, for each leaf the last row first, so that the slots of the others do not
   * change.
   */
  private void write(MiniTransaction mini, int[] leaves) {
    RecordBuilder record = null;
    for (int i = leaves.length - 1; i >= 0; i--) {
      if (record == null) {
        record = mini.change(leaves[i]);
      }
      Change change = changes.get(i);
      int slot = SlottedSearch.search(pool.page(leaves[i]), change.key);
      if (slot < 0 != change.comes) {
        throw catalogue.misplaced(pool.page(leaves[i]));
      }
      if (change.cell == null) {
        PageOps.remove(record, slot);
      } else if (change.comes) {
        PageOps.insert(record, -slot - 1, change.cell);
      } else {
        PageOps.replace(record, slot, change.cell);
      }
      if (i == 0 || leaves[i - 1] != leaves[i]) {
        mini.end();
        record = null;
      }
    }
  }

  /** Splits the leaf that had no room. Another thread's row may use up the room again. */
  private void makeRoom() {
    storage.space().acquire(Split.CREDIT, Split.PAGES);
    try {
      pool.unfixExclusive(tools.split().leafWithRoom(catalogue, full, need));
    } finally {
      storage.space().release(Split.CREDIT, Split.PAGES);
    }
  }
}
