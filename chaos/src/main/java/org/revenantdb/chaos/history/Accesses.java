package org.revenantdb.chaos.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.collections.IntArrayList;

/**
 * Accesses as columns of numbers: a history of a hundred thousand transactions is a few arrays.
 *
 * <p>A range read is an access that says so, and behind it the reads of the keys that it found.
 * {@link RangeReads} puts reads in its place that know of which range they are.
 *
 * <p>Threads: one writes; any may read when it is done.
 */
final class Accesses {

  enum Kind {
    APPEND(0),
    WRITE(1),
    READ_LIST(2),
    READ_REGISTER(3),
    RANGE_OF_LISTS(4),
    RANGE_OF_REGISTERS(5);

    private final int code;

    Kind(int code) {
      this.code = code;
    }
  }

  /** By their codes. */
  private static final Kind[] KINDS = Kind.values();

  private static final int NO_RANGE = -1;

  private final IntArrayList kinds = new IntArrayList();
  private final IntArrayList keys = new IntArrayList();

  /**
   * What was written or a register held; of a list, where in {@link #elements} it begins; of a
   * range, behind its last key.
   */
  private final IntArrayList values = new IntArrayList();

  /** Of a list; of a range, how many reads behind it are what was found. */
  private final IntArrayList lengths = new IntArrayList();

  private final IntArrayList elements = new IntArrayList();

  /** Of a read that stands for a part of a range read, the number of that. */
  private final IntArrayList ranges = new IntArrayList();

  /** From and to of each range by number. */
  private final IntArrayList bounds = new IntArrayList();

  private boolean hasRangeReads;

  int size() {
    return kinds.size();
  }

  void clear() {
    kinds.clear();
    keys.clear();
    values.clear();
    lengths.clear();
    elements.clear();
    ranges.clear();
    bounds.clear();
    hasRangeReads = false;
  }

  void append(int key, int value) {
    add(Kind.APPEND, key, value, 0);
  }

  void write(int key, int value) {
    add(Kind.WRITE, key, value, 0);
  }

  void readList(int key, int[] list, int from, int length) {
    add(Kind.READ_LIST, key, elements.size(), length);
    for (int i = from; i < from + length; i++) {
      elements.addInt(list[i]);
    }
  }

  void readRegister(int key, int value) {
    add(Kind.READ_REGISTER, key, value, 0);
  }

  /** A range read; the next reads, as many as were found, are of it. */
  void rangeOfLists(int from, int to, int found) {
    add(Kind.RANGE_OF_LISTS, from, to, found);
  }

  /** A range read; the next reads, as many as were found, are of it. */
  void rangeOfRegisters(int from, int to, int found) {
    add(Kind.RANGE_OF_REGISTERS, from, to, found);
  }

  private void add(Kind kind, int key, int value, int length) {
    kinds.addInt(kind.code);
    keys.addInt(key);
    values.addInt(value);
    lengths.addInt(length);
    ranges.addInt(NO_RANGE);
    hasRangeReads |= kind.code >= Kind.RANGE_OF_LISTS.code;
  }

  /** A range of which reads may be said to be; returns its number. */
  int addRange(int from, int to) {
    bounds.addInt(from);
    bounds.addInt(to);
    return bounds.size() / 2 - 1;
  }

  /** The access that was added last is a part of what a range read showed. */
  void lastIsOf(int range) {
    ranges.setInt(size() - 1, range);
  }

  void add(Access access) {
    switch (access) {
      case Access.Append(int key, int value) -> append(key, value);
      case Access.Write(int key, int value) -> write(key, value);
      case Access.ReadList(int key, List<Integer> list) -> {
        int[] array = list.stream().mapToInt(Integer::intValue).toArray();
        readList(key, array, 0, array.length);
      }
      case Access.ReadRegister(int key, int value) -> readRegister(key, value);
      case Access.ReadLists(int from, int to, List<Access.ReadList> found) -> {
        rangeOfLists(from, to, found.size());
        found.forEach(this::add);
      }
      case Access.ReadRegisters(int from, int to, List<Access.ReadRegister> found) -> {
        rangeOfRegisters(from, to, found.size());
        found.forEach(this::add);
      }
    }
  }

  /** Adds another's, from one of them to before another. */
  void addAll(Accesses other, int from, int to) {
    for (int i = from; i < to; i++) {
      Kind kind = other.kind(i);
      if (kind == Kind.READ_LIST) {
        add(kind, other.key(i), elements.size(), other.length(i));
        for (int at = 0; at < other.length(i); at++) {
          elements.addInt(other.element(i, at));
        }
      } else {
        add(kind, other.key(i), other.value(i), other.length(i));
      }
    }
  }

  Kind kind(int access) {
    return KINDS[kinds.getInt(access)];
  }

  boolean isWrite(int access) {
    return kinds.getInt(access) <= Kind.WRITE.code;
  }

  boolean isOfList(int access) {
    return kind(access) == Kind.APPEND || kind(access) == Kind.READ_LIST;
  }

  boolean isRange(int access) {
    return kinds.getInt(access) >= Kind.RANGE_OF_LISTS.code;
  }

  /** Whether there is a range read among them. */
  boolean hasRangeReads() {
    return hasRangeReads;
  }

  /** The access behind one, of a range read the one behind what it found. */
  int next(int access) {
    return access + 1 + (isRange(access) ? length(access) : 0);
  }

  /** The number of the range read of which a read is a part; negative if of none. */
  int rangeOf(int access) {
    return ranges.getInt(access);
  }

  int from(int range) {
    return bounds.getInt(2 * range);
  }

  int to(int range) {
    return bounds.getInt(2 * range + 1);
  }

  /** Whether a range was read and this key was not in it. */
  boolean isAbsentInRange(int access) {
    return ranges.getInt(access) != NO_RANGE && showsNothing(access);
  }

  /** Whether a read shows a key that nobody has written. */
  boolean showsNothing(int read) {
    return isOfList(read) ? length(read) == 0 : value(read) == Access.NIL;
  }

  /** Of a range its first. */
  int key(int access) {
    return keys.getInt(access);
  }

  /** Of a write or of the read of a register; of a range, behind its last key. */
  int value(int access) {
    return values.getInt(access);
  }

  /** Of the list that was read; of a range, how many keys were found. */
  int length(int access) {
    return lengths.getInt(access);
  }

  /** Of the list that was read. */
  int element(int access, int at) {
    return elements.getInt(values.getInt(access) + at);
  }

  Access get(int access) {
    int key = key(access);
    return switch (kind(access)) {
      case APPEND -> Access.append(key, value(access));
      case WRITE -> Access.write(key, value(access));
      case READ_REGISTER -> Access.read(key, value(access));
      case READ_LIST -> {
        List<Integer> list = new ArrayList<>(length(access));
        for (int at = 0; at < length(access); at++) {
          list.add(element(access, at));
        }
        yield new Access.ReadList(key, list);
      }
      case RANGE_OF_LISTS -> new Access.ReadLists(key, value(access), found(access));
      case RANGE_OF_REGISTERS -> new Access.ReadRegisters(key, value(access), found(access));
    };
  }

  @SuppressWarnings("unchecked") // behind a range are reads of its kind alone
  private <A extends Access> List<A> found(int range) {
    List<A> found = new ArrayList<>(length(range));
    for (int read = range + 1; read < next(range); read++) {
      found.add((A) get(read));
    }
    return found;
  }

  int[] list(int access) {
    int[] list = new int[length(access)];
    Arrays.setAll(list, at -> element(access, at));
    return list;
  }
}
