package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;

/**
 * The result of an optimistic descent. Reusable; for one thread at a time.
 *
 * <p>It can be extended by tests, which override methods in order to run code between two steps of
 * a read.
 */
public class Descent {
  private @Nullable Stay leaf;
  private long stamp;
  private int levels;
  private boolean atRightEdge;

  /** The page above the leaf if the descent passed it; else null. */
  private @Nullable Stay parent;

  private @Nullable Stay blocker;
  private long parentStamp;
  private int position;
  private MemorySegment memory = MemorySegment.NULL;
  private long base;

  /** Receives the results of reads that only fetch; else they would be optimised away. */
  @SuppressWarnings("UnusedVariable")
  private int touched;

  /** Makes an object without a result. */
  public Descent() {}

  boolean found(
      Stay stay, long stampOfStay, int levelsToIt, MemorySegment itsMemory, long itsBase) {
    leaf = stay;
    stamp = stampOfStay;
    levels = levelsToIt;
    memory = itsMemory;
    base = itsBase;
    return true;
  }

  void begin() {
    parent = null;
    blocker = null;
  }

  /** Called when the descent found a page above the leaf that another thread is writing. */
  void blockedBy(Stay stay) {
    blocker = stay;
  }

  /**
   * The page that another thread was writing, if the last descent ended because of that; else null.
   */
  @Nullable Stay blocker() {
    return blocker;
  }

  /** Called when the descent goes on from the page above the leaf to the child at a position. */
  void below(Stay stay, long stampOfStay, int childPosition) {
    parent = stay;
    parentStamp = stampOfStay;
    position = childPosition;
  }

  @Nullable Stay parent() {
    return parent;
  }

  long parentStamp() {
    return parentStamp;
  }

  /** The position of the leaf in its parent. */
  int position() {
    return position;
  }

  /** Fetches the memory of a leaf, which may turn out to be another page. */
  void fetch(MemorySegment itsMemory, long itsBase) {
    touched += SlottedSearch.touch(itsMemory, itsBase);
  }

  /** Fetches the memory in front of the heap of a leaf, where a former version is going to be. */
  void fetchHeapTop(MemorySegment itsMemory, long itsBase) {
    touched += SlottedSearch.touchHeapTop(itsMemory, itsBase);
  }

  /** Fetches the end of the leaf, where its fences mostly are. */
  public void fetchFences() {
    touched += SlottedSearch.touchHead(memory, base + Page.SIZE - 1);
  }

  /** Receives the result of reads that only fetch. */
  void fetched(int read) {
    touched += read;
  }

  /**
   * Searches a leaf. Fetches the rest of the cell that is probably the key's while the beginning is
   * still being fetched.
   *
   * @return as {@link SlottedSearch#searchLeaf(MemorySegment, long, byte[])}
   */
  public int search(MemorySegment itsMemory, long itsBase, byte[] key) {
    int alike = SlottedSearch.searchHeads(itsMemory, itsBase, key);
    if (alike >= 0) {
      fetchCell(itsMemory, itsBase, Slotted.cellOf(itsMemory, itsBase, alike));
    }
    return SlottedSearch.searchLeaf(itsMemory, itsBase, key, alike);
  }

  void fetchCell(MemorySegment itsMemory, long itsBase, long cell) {
    touched += SlottedSearch.touchCell(itsMemory, itsBase, cell);
  }

  /**
   * Fetches the cell of a slot that is probably going to be read soon. The page may be any page.
   *
   * @param slot the slot; may be one that the leaf does not have
   */
  public void fetchCellOf(MemorySegment itsMemory, long itsBase, int slot) {
    if (slot < Slotted.count(itsMemory, itsBase)) {
      long cell = Slotted.cellOf(itsMemory, itsBase, slot);
      touched += SlottedSearch.touchHead(itsMemory, cell);
      fetchCell(itsMemory, itsBase, cell);
    }
  }

  /** Whether the last leaf that was written was the right-most one of its tree. */
  public boolean isAtRightEdge() {
    return atRightEdge;
  }

  /** Records whether the leaf that is written is the right-most one. */
  public void atRightEdge(boolean is) {
    atRightEdge = is;
  }

  boolean missing() {
    leaf = null;
    return true;
  }

  boolean isResident() {
    return leaf != null;
  }

  /** The leaf. Call it only after a descent that found it. */
  public Stay leaf() {
    return Objects.requireNonNull(leaf);
  }

  /** The memory that contains the leaf, and other pages. */
  public MemorySegment memory() {
    return memory;
  }

  /** The offset of the leaf in the memory. */
  public long base() {
    return base;
  }

  /** The leaf's stamp. */
  public long stamp() {
    return stamp;
  }

  /** The number of pages that the descent visited, including the leaf. */
  public int levels() {
    return levels;
  }

  /** Whether the leaf is unchanged since the descent reached it. */
  public boolean isUndisturbed() {
    return leaf().validate(stamp);
  }
}
