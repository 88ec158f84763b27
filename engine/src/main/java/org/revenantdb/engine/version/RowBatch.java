package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;

/**
 * Rows that a scan has copied from a leaf. All bytes are in one array, so a batch allocates almost
 * nothing. Reusable; for one thread at a time.
 */
public final class RowBatch {
  /*
   * Row i       prefix, then keys[i] .. values[i]   its key     values[i] .. values[i] + lengths[i]   its value, or a reference to
   *             overflow pages if flags[i] says so
   * Bytes       First, in one piece, the part of the leaf that contains the cells of all rows (hold): rows whose
   *             current version is taken lie in it. Values from elsewhere are added behind it. One copy of some
   *             kilobytes costs less than a copy of each row, and the processor prefetches it.
   * Prefix      The prefix of the leaf's keys, which is not in its cells; empty in a batch without a leaf.
   */
  private static final int FIRST_ROWS = 16;

  /** Stored instead of a row's flags if its value is not known yet. */
  private static final byte WITHOUT_VALUE = -1;

  private byte[] bytes = new byte[0];
  private int[] keys = new int[FIRST_ROWS];
  private int[] values = new int[FIRST_ROWS];
  private int[] lengths = new int[FIRST_ROWS];
  private byte[] flags = new byte[FIRST_ROWS];
  private int used;
  private int size;
  private int withoutValue;

  /** The offset of the piece in the leaf. */
  private int held;

  private byte[] prefix = new byte[0];
  private int prefixLength;
  private final List<byte[]> leftOut = new ArrayList<>(0);

  /** Makes an empty batch. */
  public RowBatch() {}

  /** Number of rows. */
  public int size() {
    return size;
  }

  /** Whether there are no rows. */
  public boolean isEmpty() {
    return size == 0;
  }

  /** The number of bytes of the rows, including what else was copied with them. */
  int bytesUsed() {
    return used;
  }

  /** Removes the rows. */
  public void clear() {
    size = 0;
    withoutValue = 0;
    used = 0;
    prefixLength = 0;
    leftOut.clear();
  }

  /**
   * Copies the part of a leaf that contains all cells for {@link #addCurrent}. The batch must be
   * empty.
   */
  void hold(MemorySegment page, int from, int to) {
    int length = to - from;
    if (bytes.length < length) {
      bytes = new byte[Page.SIZE];
    }
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, from, bytes, 0, length);
    held = from;
    used = length;
    if (prefix.length < Slotted.prefix(page)) {
      prefix = new byte[Slotted.MAX_PREFIX];
    }
    prefixLength = Slotted.copyPrefix(page, prefix);
  }

  /** Adds the current version of a row: in its cell the value follows the key. */
  void addCurrent(int cell, long shape) {
    int key = cell + LeafCell.KEY - held;
    add(key, LeafCell.keyLength(shape), LeafCell.valueLength(shape), LeafCell.flags(shape));
  }

  /** Adds a row whose value is found later, outside of the leaf: {@link #keysWithoutValue}. */
  void addWithoutValue(int cell, long shape) {
    int key = cell + LeafCell.KEY - held;
    add(key, LeafCell.keyLength(shape), 0, 0);
    flags[size - 1] = WITHOUT_VALUE;
    withoutValue++;
  }

  /** Has a later {@link #merge} leave out a key: its own transaction has deleted the row. */
  void leaveOut(byte[] key) {
    leftOut.add(key);
  }

  /**
   * Adds rows whose value is found later, each in its place. A key that the batch has is left out.
   *
   * @param others keys in the order of the batch, which have the prefix of its keys
   * @param endsThere whether rows behind the last one are removed from the batch
   */
  void merge(List<byte[]> others, boolean descending, boolean endsThere) {
    if (endsThere) {
      removeBehind(others.getLast(), descending);
    }
    List<byte[]> added = others;
    if (!leftOut.isEmpty()) {
      added = new ArrayList<>(others);
      added.removeIf(key -> leftOut.stream().anyMatch(other -> Arrays.equals(key, other)));
    }
    merge(added, descending);
  }

  private void removeBehind(byte[] key, boolean descending) {
    while (size > 0 && compare(size - 1, key, descending) > 0) {
      size--;
      withoutValue -= flags[size] == WITHOUT_VALUE ? 1 : 0;
    }
  }

  private void merge(List<byte[]> added, boolean descending) {
    int[] order = new int[size + added.size()];
    int count = 0;
    int next = 0;
    for (int row = 0; row < size; row++) {
      int compared = next < added.size() ? compare(row, added.get(next), descending) : -1;
      while (compared > 0) {
        order[count++] = ~next++;
        compared = next < added.size() ? compare(row, added.get(next), descending) : -1;
      }
      order[count++] = row;
      next += compared == 0 ? 1 : 0;
    }
    while (next < added.size()) {
      order[count++] = ~next++;
    }
    reorder(order, count, added);
  }

  private int compare(int row, byte[] key, boolean descending) {
    int order = compareKey(row, key);
    return descending ? -order : order;
  }

  /**
   * Gives the batch other rows.
   *
   * @param order numbers of its rows; and the complements of numbers of keys, for rows without
   *     value
   */
  private void reorder(int[] order, int count, List<byte[]> added) {
    int[] oldKeys = keys.clone();
    int[] oldValues = values.clone();
    int[] oldLengths = lengths.clone();
    byte[] oldFlags = flags.clone();
    size = 0;
    withoutValue = 0;
    for (int i = 0; i < count; i++) {
      int row = order[i];
      if (row < 0) {
        byte[] key = added.get(~row);
        int suffix = key.length - prefixLength;
        int at = reserve(suffix);
        System.arraycopy(key, prefixLength, bytes, at, suffix);
        add(at, suffix, 0, WITHOUT_VALUE);
      } else {
        add(oldKeys[row], oldValues[row] - oldKeys[row], oldLengths[row], oldFlags[row]);
      }
      flags[size - 1] = row < 0 ? WITHOUT_VALUE : oldFlags[row];
      withoutValue += flags[size - 1] == WITHOUT_VALUE ? 1 : 0;
    }
  }

  /** The keys of the rows whose value was not found yet, in their order. */
  List<byte[]> keysWithoutValue() {
    if (withoutValue == 0) {
      return List.of();
    }
    List<byte[]> found = new ArrayList<>(withoutValue);
    for (int row = 0; row < size; row++) {
      if (flags[row] == WITHOUT_VALUE) {
        found.add(key(row));
      }
    }
    return found;
  }

  /** Sets the values of these rows; rows without a value are removed. */
  void addValues(List<byte[]> keysWithoutValue, @Nullable StoredValue[] found) {
    int rows = size;
    int next = 0;
    size = 0;
    withoutValue = 0;
    for (int row = 0; row < rows; row++) {
      if (flags[row] != WITHOUT_VALUE) {
        keys[size] = keys[row];
        values[size] = values[row];
        lengths[size] = lengths[row];
        flags[size] = flags[row];
        size++;
      } else {
        StoredValue value = found[next];
        if (value != null) {
          add(keysWithoutValue.get(next), value);
        }
        next++;
      }
    }
  }

  /** Adds a row of the leaf with a value from elsewhere. */
  void add(byte[] key, StoredValue value) {
    byte[] stored = value.bytes();
    int suffix = key.length - prefixLength;
    int at = reserve(suffix + stored.length);
    System.arraycopy(key, prefixLength, bytes, at, suffix);
    System.arraycopy(stored, 0, bytes, at + suffix, stored.length);
    add(at, suffix, stored.length, value.flags());
  }

  /** Adds a row of another batch; with no leaf in this one. */
  void add(RowBatch from, int row) {
    int key = from.keyLength(row);
    int suffix = key - from.prefixLength;
    int value = from.lengths[row];
    int at = reserve(key + value);
    System.arraycopy(from.prefix, 0, bytes, at, from.prefixLength);
    System.arraycopy( // its value follows its key
        from.bytes, from.keys[row], bytes, at + from.prefixLength, suffix + value);
    add(at, key, value, from.flags[row]);
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
    return prefixLength + values[row] - keys[row];
  }

  /** A copy of a row's key. */
  public byte[] key(int row) {
    if (prefixLength == 0) {
      return Arrays.copyOfRange(bytes, keys[row], values[row]);
    }
    byte[] key = new byte[keyLength(row)];
    System.arraycopy(prefix, 0, key, 0, prefixLength);
    System.arraycopy(bytes, keys[row], key, prefixLength, key.length - prefixLength);
    return key;
  }

  /** Copies a row's key, or the beginning for which there is room; returns its length. */
  public int key(int row, byte[] into, int at) {
    int room = into.length - at;
    System.arraycopy(prefix, 0, into, at, Math.min(prefixLength, room));
    if (prefixLength < room) {
      copy(keys[row], values[row] - keys[row], into, at + prefixLength);
    }
    return keyLength(row);
  }

  /** Compares a row's key with another, as unsigned bytes. */
  public int compareKey(int row, byte[] key) {
    int common = Math.min(prefixLength, key.length);
    int order = Arrays.compareUnsigned(prefix, 0, prefixLength, key, 0, common);
    return order != 0
        ? order
        : Arrays.compareUnsigned(bytes, keys[row], values[row], key, common, key.length);
  }

  /** Compares a row's key with that of a row of another batch, as unsigned bytes. */
  int compareKeys(int row, RowBatch other, int otherRow) {
    if (prefixLength > other.prefixLength) {
      return -other.compareKeys(otherRow, this, row);
    }
    // This batch has the shorter prefix: next are bytes of this suffix and the rest of
    // the other's prefix.
    int order = Arrays.compareUnsigned(prefix, 0, prefixLength, other.prefix, 0, prefixLength);
    if (order != 0) {
      return order;
    }
    int rest = other.prefixLength - prefixLength;
    int middle = Math.min(keys[row] + rest, values[row]);
    order =
        Arrays.compareUnsigned(
            bytes, keys[row], middle, other.prefix, prefixLength, other.prefixLength);
    return order != 0
        ? order
        : Arrays.compareUnsigned(
            bytes, middle, values[row], other.bytes, other.keys[otherRow], other.values[otherRow]);
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
