package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * A separator and the child to its right, as stored in an inner page.
 *
 * <pre>  0 u32 child   4 u16 key length   6 key</pre>
 *
 * <p>As in a {@link LeafCell}, the page's prefix is missing.
 */
public final class InnerCell {
  /** Longest cell. */
  public static final int MAX_CELL = 6 + LeafCell.MAX_KEY;

  static final int KEY_LENGTH = 4;
  private static final int KEY = 6;

  private InnerCell() {}

  /** Length of the cell. */
  public static int length(MemorySegment page, int cell) {
    return KEY + keyLength(page, cell);
  }

  /** The child with keys from this cell's on. */
  public static int child(MemorySegment page, int cell) {
    return Page.getInt(page, cell);
  }

  /** Length of the part of the separator that is in the cell. */
  public static int keyLength(MemorySegment page, long cell) {
    return Page.getShort(page, cell + KEY_LENGTH);
  }

  /** Offset of the separator. */
  public static int keyOffset(int cell) {
    return cell + KEY;
  }

  /** Offset of the separator in a larger memory. */
  static long keyOffset(long cell) {
    return cell + KEY;
  }

  /** Builds a cell. */
  public static byte[] build(byte[] key, int child) {
    byte[] cell = new byte[KEY + key.length];
    LittleEndian.putInt(cell, 0, child);
    LittleEndian.putShort(cell, KEY_LENGTH, key.length);
    System.arraycopy(key, 0, cell, KEY, key.length);
    return cell;
  }
}
