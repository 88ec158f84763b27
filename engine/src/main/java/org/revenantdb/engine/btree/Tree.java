package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.InnerCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.recovery.file.CorruptDataException;

/**
 * A B+-tree with a root that never moves: finds the leaf of a key and leaves it latched.
 *
 * <p>Latches go from parent to child; a parent's is held until its child's is (protocols.md §5).
 * Leaves have no links to their neighbours: a scan goes on by a leaf's fence, with a new descent.
 * Immutable; thread-safe.
 */
public final class Tree {
  /** Room that an inner page needs to take one more separator of any length. */
  static final int INNER_ROOM = InnerCell.MAX_CELL + Slotted.SLOT;

  private final BufferPool pool;
  private final int table;
  private final int root;

  /**
   * A tree.
   *
   * @param table id that its pages carry
   * @param root its root page
   */
  public Tree(BufferPool pool, int table, int root) {
    this.pool = pool;
    this.table = table;
    this.root = root;
  }

  /** Id that the tree's pages carry. */
  public int table() {
    return table;
  }

  /** The root page. */
  public int root() {
    return root;
  }

  /** Frame of the leaf whose fences hold the key, latched shared. */
  public int leafShared(byte[] key) {
    int frame = pool.fixShared(root);
    while (true) {
      MemorySegment page = pool.page(frame);
      if (Slotted.level(page) == 0) {
        return frame;
      }
      frame = stepShared(frame, Slotted.child(page, Slotted.childPosition(page, key)));
    }
  }

  /**
   * Frame of the leaf that holds the largest keys below a bound, latched shared.
   *
   * @param bound null for plus infinity
   */
  public int leafBelow(byte @Nullable [] bound) {
    int frame = pool.fixShared(root);
    while (true) {
      MemorySegment page = pool.page(frame);
      if (Slotted.level(page) == 0) {
        return frame;
      }
      int position = Slotted.count(page) - 1;
      if (bound != null) {
        int slot = Slotted.search(page, bound);
        position = slot >= 0 ? slot - 1 : -slot - 2;
      }
      frame = stepShared(frame, Slotted.child(page, position));
    }
  }

  /**
   * What is thrown for a leaf whose fences are not what led to it: a page from another time. A walk
   * would never end, and a row that is there would not be found.
   *
   * @param page the leaf, latched
   * @return the exception, which names the file and the place
   */
  public CorruptDataException misplaced(MemorySegment page) {
    return pool.damage(
        Page.id(page),
        "page "
            + Integer.toUnsignedString(Page.id(page))
            + " of table "
            + table
            + " does not hold the keys that its parent says: an older version of it is back");
  }

  private int stepShared(int frame, int child) {
    int level = Slotted.level(pool.page(frame)) - 1;
    int next;
    try {
      next = pool.fixShared(child);
    } finally {
      pool.unfixShared(frame);
    }
    if (Slotted.level(pool.page(next)) != level) {
      // A page from another time, which might lead back: a descent must end.
      pool.unfixShared(next);
      throw pool.damage(
          child,
          "page "
              + Integer.toUnsignedString(child)
              + " of table "
              + table
              + " is not on level "
              + level
              + ", where its parent has it");
    }
    return next;
  }

  /** Frame of the leaf whose fences hold the key, latched exclusively. */
  public int leafExclusive(byte[] key) {
    int frame = pool.fixShared(root);
    while (true) {
      MemorySegment page = pool.page(frame);
      int level = Slotted.level(page);
      if (level == 0) {
        // The root is a leaf, or was one: it has to be looked at again under the latch that is
        // needed.
        pool.unfixShared(frame);
        frame = pool.fixExclusive(root);
        if (Slotted.level(pool.page(frame)) == 0) {
          return frame;
        }
        pool.unfixExclusive(frame);
        frame = pool.fixShared(root);
        continue;
      }
      int child = Slotted.child(page, Slotted.childPosition(page, key));
      if (level > 1) {
        frame = stepShared(frame, child);
        continue;
      }
      int leaf;
      try {
        leaf = pool.fixExclusive(child);
      } finally {
        pool.unfixShared(frame);
      }
      return leaf;
    }
  }
}
