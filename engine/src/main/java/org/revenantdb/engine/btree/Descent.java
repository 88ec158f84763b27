package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.page.SlottedSearch;

/**
 * Where an optimistic descent ended. Used again and again; one thread at a time.
 *
 * <p>Open to tests, which come between two steps of a read by overriding what it asks here.
 */
public class Descent {
  private @Nullable Stay leaf;
  private long stamp;
  private int levels;
  private boolean atRightEdge;

  /** The page above the leaf, where the descent came by it; else null. */
  private @Nullable Stay parent;

  private @Nullable Stay blocker;
  private long parentStamp;
  private int position;
  private MemorySegment memory = MemorySegment.NULL;
  private long base;

  /**
   * Where the result of {@link SlottedSearch#touch} is left, or the reads would be optimised away.
   */
  @SuppressWarnings("UnusedVariable")
  private int touched;

  /** Of nothing yet. */
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

  /** The descent found a page, above the leaf, that somebody else is writing. */
  void blockedBy(Stay stay) {
    blocker = stay;
  }

  /** The page that somebody else was writing, if the last descent ended for that; else null. */
  @Nullable Stay blocker() {
    return blocker;
  }

  /** The descent goes on from the page above the leaf to the child at a position. */
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

  /** Of the leaf in its parent. */
  int position() {
    return position;
  }

  /** Has a leaf fetched, which may turn out to be another page. */
  void fetch(MemorySegment itsMemory, long itsBase) {
    touched += SlottedSearch.touch(itsMemory, itsBase);
  }

  /** Has the rest of a cell of the leaf fetched while its beginning is on the way. */
  public void fetchCell(long cell) {
    touched += SlottedSearch.touchCell(memory, base, cell);
  }

  /** Whether the last leaf that was written was the right-most one of its tree. */
  public boolean isAtRightEdge() {
    return atRightEdge;
  }

  /** Notes whether the leaf that is written is the right-most one. */
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

  /** The leaf; only after a descent that found it. */
  public Stay leaf() {
    return Objects.requireNonNull(leaf);
  }

  /** The memory that the leaf is in, with others. */
  public MemorySegment memory() {
    return memory;
  }

  /** Where in the memory the leaf begins. */
  public long base() {
    return base;
  }

  /** The leaf's stamp. */
  public long stamp() {
    return stamp;
  }

  /** How many pages the descent went through, the leaf included. */
  public int levels() {
    return levels;
  }

  /** Whether the leaf is as it was when the descent came to it. */
  public boolean isUndisturbed() {
    return leaf().validate(stamp);
  }
}
