package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * Cells for a new leaf, in the heap. They come to the page together, when its fences are known.
 *
 * <p>A load that follows a start builds thousands of leaves before the compiler has optimised
 * anything. Then an access to an array costs much less than one to a page. Here a row costs two
 * copies, and a leaf two accesses to the page.
 *
 * <p>Not thread-safe.
 */
final class LeafCells {
  /** A key has at least one byte. */
  private static final int MOST =
      (Page.SIZE - Slotted.SLOTS) / (LeafCell.keyOffset(0) + 1 + Slotted.LEAF_SLOT);

  private static final int KEY = LeafCell.keyOffset(0);

  /** Cells with their whole keys, one behind the other. */
  private final byte[] cells = new byte[Page.SIZE];

  /** Where each begins, and where the last one ends. */
  private final int[] starts = new int[MOST + 1];

  /** The part of the page from {@link Slotted#COMMON} on. */
  private final byte[] image = new byte[Page.SIZE];

  private int count;

  void clear() {
    count = 0;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Adds a cell whose key is above all others. There must be room on the page. */
  void add(byte[] cell) {
    int start = starts[count];
    System.arraycopy(cell, 0, cells, start, cell.length);
    count++;
    starts[count] = start + cell.length;
  }

  /** Bytes that the cells and their slots take, if all of their keys are stored. */
  int bytes() {
    return starts[count] + Slotted.LEAF_SLOT * count;
  }

  byte[] lastKey() {
    int key = starts[count - 1] + KEY;
    return Arrays.copyOfRange(cells, key, key + keyLength(count - 1));
  }

  private int keyLength(int cell) {
    return LittleEndian.getShort(cells, starts[cell] + LeafCell.KEY_LENGTH);
  }

  /** Puts all cells on a page that has its fences and prefix, and no cell; with heads and skip. */
  void putOn(MemorySegment page) {
    int prefix = Slotted.prefix(page);
    int end = Slotted.heapTop(page);
    int skip = skip(prefix);
    int inHeader = Math.min(skip, Slotted.MAX_COMMON);
    System.arraycopy(cells, KEY, image, Slotted.COMMON, inHeader);
    Arrays.fill(image, Slotted.COMMON + inHeader, Slotted.SLOTS, (byte) 0);
    int top = end;
    int slot = Slotted.SLOTS;
    for (int i = 0; i < count; i++) {
      int start = starts[i];
      int length = starts[i + 1] - start;
      int keyLength = keyLength(i);
      top -= length - prefix;
      System.arraycopy(cells, start, image, top, KEY);
      System.arraycopy(cells, start + KEY + prefix, image, top + KEY, length - KEY - prefix);
      LittleEndian.putShort(image, top + LeafCell.KEY_LENGTH, keyLength - prefix);
      LittleEndian.putInt(image, slot, head(start + KEY + skip, start + KEY + keyLength));
      LittleEndian.putShort(image, slot + Slotted.SLOT_CELL, top);
      slot += Slotted.LEAF_SLOT;
    }
    MemorySegment.copy(
        image, Slotted.COMMON, page, ValueLayout.JAVA_BYTE, Slotted.COMMON, slot - Slotted.COMMON);
    MemorySegment.copy(image, top, page, ValueLayout.JAVA_BYTE, top, end - top);
    Page.putShort(page, Slotted.COUNT, count);
    Page.putShort(page, Slotted.SKIP, skip);
    Slotted.compactFrom(page, top);
  }

  /** As large as the keys allow, as {@link SlottedEdit#makeHeads} makes it. */
  private int skip(int prefix) {
    int first = keyLength(0);
    if (count == 1) {
      return Math.max(prefix, first - Slotted.HEAD);
    }
    int last = starts[count - 1] + KEY;
    // There is a difference: no key comes twice.
    return Arrays.mismatch(cells, KEY, KEY + first, cells, last, last + keyLength(count - 1));
  }

  private int head(int from, int end) {
    int head = 0;
    for (int at = from; at < from + Slotted.HEAD; at++) {
      head = head << Byte.SIZE | (at < end ? cells[at] & 0xFF : 0);
    }
    return head;
  }
}
