package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;

/**
 * Rows that a scan has copied out of a leaf: all bytes in one array, so that a batch allocates next
 * to nothing. Filled again and again; one thread at a time.
 */
public final class RowBatch {
  /*
   * Row i       keys[i] .. values[i]   its key     values[i] .. values[i] + lengths[i]   its value, or a reference to
   *             overflow pages if flags[i] says so
   * Bytes       First, in one piece, the part of the leaf in which the cells of all rows are (hold): rows whose current
   *             version is taken lie in there. Values from elsewhere are added behind. One copy of some kilobytes costs
   *             less than one of each row, and the processor fetches ahead of it.
   */
  private static final int FIRST_ROWS = 16;

  private byte[] bytes = new byte[0];
  private int[] keys = new int[FIRST_ROWS];
  private int[] values = new int[FIRST_ROWS];
  private int[] lengths = new int[FIRST_ROWS];
  private byte[] flags = new byte[FIRST_ROWS];
  private int used;
  private int size;

  /** Where in the leaf the piece begins. */
  private int held;

  /** No rows. */
  public RowBatch() {}

  /** Number of rows. */
  public int size() {
    return size;
  }

  /** Whether there are no rows. */
  public boolean isEmpty() {
    return size == 0;
  }

  /** Bytes that the rows take, and what else was copied with them. */
  int bytesUsed() {
    return used;
  }

  /** Forgets the rows. */
  public void clear() {
    size = 0;
    used = 0;
  }

  /**
   * Copies the part of a leaf in which all cells are that {@link #addCurrent} will be given; with
   * no rows in the batch.
   */
  void hold(MemorySegment page, int from, int to) {
    int length = to - from;
    if (bytes.length < length) {
      bytes = new byte[Page.SIZE];
    }
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, from, bytes, 0, length);
    held = from;
    used = length;
  }

  /** Adds the current version of a row: key and value follow each other in its cell. */
  void addCurrent(int cell, long shape) {
    int key = cell + LeafCell.keyOffset(shape) - held;
    add(key, LeafCell.keyLength(shape), LeafCell.valueLength(shape), LeafCell.flags(shape));
  }

  /** Adds a row with a value from elsewhere. */
  void add(byte[] key, StoredValue value) {
    byte[] stored = value.bytes();
    int at = reserve(key.length + stored.length);
    System.arraycopy(key, 0, bytes, at, key.length);
    System.arraycopy(stored, 0, bytes, at + key.length, stored.length);
    add(at, key.length, stored.length, value.flags());
  }

  /** Adds a row of another batch. */
  void add(RowBatch from, int row) {
    int key = from.keyLength(row);
    int length = key + from.lengths[row]; // its value follows its key
    int at = reserve(length);
    System.arraycopy(from.bytes, from.keys[row], bytes, at, length);
    add(at, key, from.lengths[row], from.flags[row]);
  }

  /** Makes room for some bytes behind those that are used; returns where. */
  private int reserve(int length) {
    int at = used;
    used += length;
    if (bytes.length < used) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, used));
    }
    return at;
  }

  private void add(int at, int key, int value, int flagsOfRow) {
    if (size == keys.length) {
      keys = Arrays.copyOf(keys, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
      lengths = Arrays.copyOf(lengths, 2 * size);
      flags = Arrays.copyOf(flags, 2 * size);
    }
    keys[size] = at;
    values[size] = at + key;
    lengths[size] = value;
    flags[size] = (byte) (flagsOfRow & LeafCell.OVERFLOW);
    size++;
  }

  /** Length of a row's key. */
  public int keyLength(int row) {
    return values[row] - keys[row];
  }

  /** A copy of a row's key. */
  public byte[] key(int row) {
    return Arrays.copyOfRange(bytes, keys[row], values[row]);
  }

  /** Copies a row's key, or the beginning for which there is room; returns its length. */
  public int key(int row, byte[] into, int at) {
    return copy(keys[row], keyLength(row), into, at);
  }

  /** Compares a row's key with another, as unsigned bytes. */
  public int compareKey(int row, byte[] key) {
    return Arrays.compareUnsigned(bytes, keys[row], values[row], key, 0, key.length);
  }

  /** Compares a row's key with that of a row of another batch, as unsigned bytes. */
  int compareKeys(int row, RowBatch other, int otherRow) {
    return Arrays.compareUnsigned(
        bytes, keys[row], values[row], other.bytes, other.keys[otherRow], other.values[otherRow]);
  }

  /** Whether a row's value is in overflow pages. */
  public boolean isOverflow(int row) {
    return flags[row] != 0;
  }

  /** A copy of a row's value as it is stored. */
  public StoredValue value(int row) {
    return new StoredValue(
        flags[row], Arrays.copyOfRange(bytes, values[row], values[row] + lengths[row]));
  }

  /** Copies a value that is not in overflow pages, as {@link #key(int, byte[], int)} does. */
  public int value(int row, byte[] into, int at) {
    return copy(values[row], lengths[row], into, at);
  }

  private int copy(int from, int length, byte[] into, int at) {
    System.arraycopy(bytes, from, into, at, Math.min(length, into.length - at));
    return length;
  }
}
