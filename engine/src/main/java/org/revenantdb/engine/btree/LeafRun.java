package org.revenantdb.engine.btree;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.revenantdb.engine.page.InnerCell;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;

/**
 * Several consecutive leaves, filled outside the tree with rows of one transaction in ascending
 * order. {@link RunInsert} puts them into a tree.
 *
 * <p>Reusable. One thread at a time.
 */
public final class LeafRun {
  /*
   * Invariants  (protocols.md §17)
   *             B1 every key is at or above the lower fence that the run was begun with.
   *             B2 each leaf has room for a fence of its last key's length and one byte more; the shortest separator
   *             above a key is never longer. Two rows of any size still fit, so a run always makes progress.
   *             B3 all separators together fit where an inner page has INNER_ROOM.
   */
  /** The greatest number of leaves of a run: as many as one record can contain. */
  static final int MAX_LEAVES = 8;

  /**
   * The space that a leaf leaves free for the predecessors of rows, once it is at least half full.
   */
  private static final int SPARE = Page.SIZE / 16;

  private static final int SMALL = Page.SIZE / 2;

  private final int table;
  private final long writer;
  private final SlottedBuilder[] leaves = new SlottedBuilder[MAX_LEAVES];
  private final List<byte[]> fences = new ArrayList<>(MAX_LEAVES);
  private int separatorBytes;

  /**
   * Makes an empty run; call {@link #begin} first.
   *
   * @param table the table id in the leaves
   * @param writer the transaction that wrote all rows
   */
  public LeafRun(int table, long writer) {
    this.table = table;
    this.writer = writer;
    for (int i = 0; i < MAX_LEAVES; i++) {
      leaves[i] = new SlottedBuilder();
    }
  }

  /** Drops the former content, and begins a first leaf without rows. */
  public void begin(byte[] lowerFence) {
    fences.clear();
    separatorBytes = 0;
    next(lowerFence);
  }

  private void next(byte[] lowerFence) {
    SlottedBuilder leaf = leaves[fences.size()];
    leaf.begin(0, table, lowerFence, null);
    leaf.writtenBy(writer);
    fences.add(lowerFence);
    separatorBytes += bytesAsSeparator(lowerFence);
  }

  private static int bytesAsSeparator(byte[] fence) {
    return InnerCell.MAX_CELL - LeafCell.MAX_KEY + fence.length + Slotted.INNER_SLOT;
  }

  /**
   * Adds a row, whose key is above all others.
   *
   * @return false if there is no room for it: the run is full
   */
  public boolean add(byte[] key, byte[] cell) {
    SlottedBuilder leaf = leaves[fences.size() - 1];
    if (!fits(leaf, key.length, cell.length)) {
      byte[] fence = Split.separator(leaf.lastKey(), key);
      if (fences.size() == MAX_LEAVES
          || separatorBytes + bytesAsSeparator(fence) > Tree.INNER_ROOM) {
        return false;
      }
      leaf.upperFence(fence);
      next(fence);
      leaf = leaves[fences.size() - 1];
    }
    leaf.gather(cell);
    return true;
  }

  private static boolean fits(SlottedBuilder leaf, int key, int cell) {
    int left = leaf.free() - cell - Slotted.LEAF_SLOT;
    return left > key && (left >= SPARE || left + cell > SMALL);
  }

  /** Whether it has so few rows that a separate leaf would be a waste. */
  public boolean isSmall() {
    return fences.size() == 1 && leaves[0].free() > SMALL;
  }

  /** Whether all rows are below a fence, and the last leaf has room for it. */
  boolean endsBefore(byte[] fence) {
    SlottedBuilder last = leaves[fences.size() - 1];
    return Arrays.compareUnsigned(last.lastKey(), fence) < 0 && last.free() >= fence.length;
  }

  /** Ends the last leaf with a fence above all rows. */
  void end(byte[] fence) {
    leaves[fences.size() - 1].upperFence(fence);
  }

  /** The number of leaves. */
  public int size() {
    return fences.size();
  }

  /** A leaf. */
  public SlottedBuilder leaf(int index) {
    return leaves[index];
  }

  /** The lower fence of a leaf. */
  byte[] fence(int index) {
    return fences.get(index);
  }

  /** Bytes that an inner page needs for the separators of all leaves. */
  int separatorBytes() {
    return separatorBytes;
  }
}
