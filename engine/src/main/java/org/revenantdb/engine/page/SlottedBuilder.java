package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;

/** Builds a leaf or inner page in an array, to be logged as an image. Not thread-safe. */
public final class SlottedBuilder {
  private final byte[] bytes = new byte[Page.SIZE];
  private final MemorySegment page = MemorySegment.ofArray(bytes);

  /** An empty builder; {@link #begin} comes first. */
  public SlottedBuilder() {}

  /**
   * Begins an empty page.
   *
   * @param upper null for plus infinity
   */
  public void begin(
      int level, int table, byte[] lower, byte @org.jspecify.annotations.Nullable [] upper) {
    page.fill((byte) 0);
    Page.putByte(page, Page.TYPE, level == 0 ? Page.LEAF : Page.INNER);
    Page.putInt(page, Slotted.TABLE, table);
    Page.putByte(page, Slotted.LEVEL, level);
    int top = Page.SIZE - lower.length;
    System.arraycopy(lower, 0, bytes, top, lower.length);
    Page.putShort(page, Slotted.LOWER_OFFSET, lower.length == 0 ? 0 : top);
    Page.putShort(page, Slotted.LOWER_LENGTH, lower.length);
    if (upper == null) {
      Page.putShort(page, Slotted.UPPER_LENGTH, Slotted.INFINITE);
    } else {
      top -= upper.length;
      System.arraycopy(upper, 0, bytes, top, upper.length);
      Page.putShort(page, Slotted.UPPER_OFFSET, top);
      Page.putShort(page, Slotted.UPPER_LENGTH, upper.length);
    }
    Page.putShort(page, Slotted.HEAP_TOP, top);
  }

  /**
   * Carries over the highest writer and whether there are versions, from the page whose rows move.
   */
  public void inherit(MemorySegment source) {
    if (Slotted.level(source) == 0) {
      Page.putLong(
          page, Slotted.MAX_WRITER, Math.max(Slotted.maxWriter(page), Slotted.maxWriter(source)));
      Page.putByte(
          page, Page.FLAGS, Page.getByte(page, Page.FLAGS) | Page.getByte(source, Page.FLAGS));
    }
  }

  /** Whether the page mirrors a version bit. */
  public boolean hasVersions() {
    return Page.hasVersions(page);
  }

  /** Sets the left-most child of an inner page. */
  public void leftmostChild(int child) {
    Page.putInt(page, Slotted.LEFTMOST_CHILD, child);
  }

  /** Appends slots {@code from} (inclusive) to {@code to} (exclusive) of another page. */
  public void append(MemorySegment source, int from, int to) {
    for (int slot = from; slot < to; slot++) {
      int length = Slotted.cellLength(source, slot);
      int top = Page.getShort(page, Slotted.HEAP_TOP) - length;
      MemorySegment.copy(source, Slotted.cell(source, slot), page, top, length);
      appended(top);
    }
  }

  /** Appends a cell. */
  public void append(byte[] cell) {
    int top = Page.getShort(page, Slotted.HEAP_TOP) - cell.length;
    System.arraycopy(cell, 0, bytes, top, cell.length);
    appended(top);
  }

  private void appended(int top) {
    int count = Slotted.count(page);
    Page.putShort(page, Slotted.HEAP_TOP, top);
    Page.putShort(page, Slotted.SLOTS + Slotted.SLOT * count, top);
    Page.putShort(page, Slotted.COUNT, count + 1);
  }

  /** The page's bytes. */
  MemorySegment page() {
    return page;
  }

  /** Bytes from {@link Page#BODY} to the end of the slots. */
  int headLength() {
    return Slotted.SLOTS + Slotted.SLOT * Slotted.count(page) - Page.BODY;
  }

  /** Bytes of the heap. */
  int tailLength() {
    return Page.SIZE - Page.getShort(page, Slotted.HEAP_TOP);
  }
}
