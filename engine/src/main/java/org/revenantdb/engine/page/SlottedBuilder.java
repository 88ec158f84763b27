package org.revenantdb.engine.page;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Builds a leaf or inner page outside the pool, to be logged as an image. Not thread-safe. */
public final class SlottedBuilder {
  /** Off heap like the pages: with one kind of memory the compiler makes one kind of code. */
  private final MemorySegment page = Arena.ofAuto().allocate(Page.SIZE, Long.BYTES);

  /** Room for a copy of the page. */
  private final MemorySegment scratch = Arena.ofAuto().allocate(Page.SIZE, Long.BYTES);

  /** Cells that are not on the page yet; null if there never were any. */
  private @Nullable LeafCells gathered;

  /** Room on the page without the gathered cells. */
  private int room;

  /** Whether the gathered cells were put on the page, and nothing was appended since. */
  private boolean hasHeads;

  /** An empty builder; {@link #begin} comes first. */
  public SlottedBuilder() {}

  /**
   * Begins an empty page.
   *
   * @param upper null for plus infinity
   */
  public void begin(int level, int table, byte[] lower, byte @Nullable [] upper) {
    hasHeads = false;
    if (gathered != null) {
      gathered.clear();
    }
    page.fill((byte) 0);
    Page.putByte(page, Page.TYPE, level == 0 ? Page.LEAF : Page.INNER);
    Page.putInt(page, Slotted.TABLE, table);
    Page.putByte(page, Slotted.LEVEL, level);
    int top = Page.SIZE - lower.length;
    put(lower, top);
    Page.putShort(page, Slotted.LOWER_OFFSET, lower.length == 0 ? 0 : top);
    Page.putShort(page, Slotted.LOWER_LENGTH, lower.length);
    if (upper == null) {
      Page.putShort(page, Slotted.UPPER_LENGTH, Slotted.INFINITE);
    } else {
      top -= upper.length;
      put(upper, top);
      Page.putShort(page, Slotted.UPPER_OFFSET, top);
      Page.putShort(page, Slotted.UPPER_LENGTH, upper.length);
    }
    Page.putShort(page, Slotted.HEAP_TOP, top);
    Page.putByte(page, Slotted.PREFIX, SlottedSearch.prefixOfFences(page));
  }

  /** Takes over the highest writer and the flags from the page whose rows move. */
  public void inherit(MemorySegment source) {
    if (Slotted.level(source) == 0) {
      Page.putLong(
          page, Slotted.MAX_WRITER, Math.max(Slotted.maxWriter(page), Slotted.maxWriter(source)));
      Page.putByte(
          page, Page.FLAGS, Page.getByte(page, Page.FLAGS) | Page.getByte(source, Page.FLAGS));
    }
  }

  /**
   * As {@link #inherit(MemorySegment)}, if only the slots {@code from} (inclusive) to {@code to}
   * (exclusive) move: the ghost bit is taken over only with deleted rows or large values.
   * Otherwise, when rows are appended, one such row would mark each following leaf.
   */
  public void inherit(MemorySegment source, int from, int to) {
    inherit(source);
    if ((Page.flags(source) & Page.FLAG_GHOST) != 0 && !Slotted.hasGhosts(source, from, to)) {
      Page.putByte(page, Page.FLAGS, flags() & ~Page.FLAG_GHOST);
    }
  }

  /** Marks a new leaf: all its rows belong to a transaction that has not ended. */
  public void writtenBy(long id) {
    Page.putLong(page, Slotted.MAX_WRITER, id);
    Page.putByte(page, Page.FLAGS, Page.FLAG_VERSIONS);
  }

  /** The page's flags. */
  public int flags() {
    return Page.flags(page);
  }

  /** Sets the left-most child of an inner page. */
  public void leftmostChild(int child) {
    Page.putInt(page, Slotted.LEFTMOST_CHILD, child);
  }

  /** Sets the tree's first IAM page, of a root; 0 if there is none. */
  public void iam(int page) {
    Page.putInt(this.page, Slotted.iamOffset(Slotted.level(this.page)), page);
  }

  /** Appends slots {@code from} (inclusive) to {@code to} (exclusive) of another page. */
  public void append(MemorySegment source, int from, int to) {
    int first = Slotted.count(page);
    for (int slot = from; slot < to; slot++) {
      appended(SlottedEdit.copyCell(source, slot, page));
    }
    SlottedEdit.moveRecords(page, first, source);
  }

  /**
   * Appends a cell to a leaf without an upper fence, in which all cells come this way. It comes to
   * the page when the page or its upper fence is asked for.
   */
  public void gather(byte[] cell) {
    LeafCells cells = gathered;
    if (cells == null) {
      cells = new LeafCells();
      gathered = cells;
    }
    if (hasHeads) {
      append(cell);
      return;
    }
    if (cells.isEmpty()) {
      room = Slotted.free(page);
    }
    cells.add(cell);
  }

  private void putGathered() {
    if (gathered != null && !gathered.isEmpty()) {
      gathered.putOn(page);
      gathered.clear();
      hasHeads = true;
    }
  }

  /** Appends a cell. */
  public void append(byte[] cell) {
    int top = Slotted.takeTop(page, cell.length - Slotted.prefix(page));
    SlottedEdit.putCell(page, top, cell, 0, cell.length);
    appended(top);
  }

  private void put(byte[] bytes, int offset) {
    MemorySegment.copy(bytes, 0, page, ValueLayout.JAVA_BYTE, offset, bytes.length);
  }

  private void appended(int cell) {
    hasHeads = false;
    int count = Slotted.count(page);
    SlottedEdit.setCell(page, count, cell);
    Page.putShort(page, Slotted.COUNT, count + 1);
  }

  /** Ends the page with an upper fence. It must have none yet, and room for it. */
  public void upperFence(byte[] upper) {
    if (gathered == null || gathered.isEmpty()) {
      SlottedEdit.keepLeft(page, Slotted.count(page), upper, 0, upper.length, scratch);
      return;
    }
    int top = Slotted.takeTop(page, upper.length);
    put(upper, top);
    Page.putShort(page, Slotted.UPPER_OFFSET, top);
    Page.putShort(page, Slotted.UPPER_LENGTH, upper.length);
    Page.putByte(page, Slotted.PREFIX, SlottedSearch.prefixOfFences(page));
    putGathered();
  }

  /** A copy of the key that was appended last; there must be one. */
  public byte[] lastKey() {
    return gathered == null || gathered.isEmpty()
        ? Slotted.key(page, Slotted.count(page) - 1)
        : gathered.lastKey();
  }

  /** Room for more cells and their slots. */
  public int free() {
    return gathered == null || gathered.isEmpty() ? Slotted.free(page) : room - gathered.bytes();
  }

  /** The page's bytes, whole. */
  public MemorySegment page() {
    putGathered();
    if (!hasHeads) {
      SlottedEdit.makeHeads(page);
    }
    return page;
  }

  /** Bytes from {@link Page#BODY} to the end of the slots. */
  int headLength() {
    return Slotted.SLOTS + Slotted.slotSize(page) * Slotted.count(page) - Page.BODY;
  }

  /** Bytes of the heap. */
  int tailLength() {
    return Page.SIZE - Slotted.heapTop(page);
  }
}
