package org.revenantdb.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Accesses as columns of numbers, so that a history of a hundred thousand transactions is a few
 * arrays.
 *
 * <p>A range read is one access, followed by the reads of the keys that it found. {@link
 * RangeReads} replaces it with reads that know their range.
 *
 * <p>Threads: one writes; any may read afterwards.
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

  /** The kinds by code. */
  private static final Kind[] KINDS = Kind.values();

  private static final int NO_RANGE = -1;

  private final IntList kinds = new IntList();
  private final IntList keys = new IntList();

  /**
   * The value written, or the value of a register. For a list, the position in {@link #elements}
   * where it begins. For a range, the key behind its last one.
   */
  private final IntList values = new IntList();

  /** The length of a list. For a range, the number of its reads that follow. */
  private final IntList lengths = new IntList();

  private final IntList elements = new IntList();

  /** For a read that is part of a range read, the number of the range. */
  private final IntList ranges = new IntList();

  /** First key and end of each range, by number. */
  private final IntList bounds = new IntList();

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
      elements.add(list[i]);
    }
  }

  void readRegister(int key, int value) {
    add(Kind.READ_REGISTER, key, value, 0);
  }

  /** Adds a range read. The next reads, as many as were found, belong to it. */
  void rangeOfLists(int from, int to, int found) {
    add(Kind.RANGE_OF_LISTS, from, to, found);
  }

  /** Adds a range read. The next reads, as many as were found, belong to it. */
  void rangeOfRegisters(int from, int to, int found) {
    add(Kind.RANGE_OF_REGISTERS, from, to, found);
  }

  private void add(Kind kind, int key, int value, int length) {
    kinds.add(kind.code);
    keys.add(key);
    values.add(value);
    lengths.add(length);
    ranges.add(NO_RANGE);
    hasRangeReads |= kind.code >= Kind.RANGE_OF_LISTS.code;
  }

  /** Adds a range to which reads can belong. Returns its number. */
  int addRange(int from, int to) {
    bounds.add(from);
    bounds.add(to);
    return bounds.size() / 2 - 1;
  }

  /** Marks the last access as part of a range read. */
  void lastIsOf(int range) {
    ranges.set(size() - 1, range);
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

  /** Refuses keys that do not ascend, or that are not in a range. */
  static void demandInRange(int from, int to, Iterable<Integer> keys) {
    long behind = from;
    for (int key : keys) {
      if (key < behind || key >= to) {
        throw new IllegalArgumentException(
            "key %d does not follow in the range from %d to %d".formatted(key, from, to));
      }
      behind = key + 1L;
    }
  }

  /** Adds accesses of another object, from one number to before another. */
  void addAll(Accesses other, int from, int to) {
    for (int i = from; i < to; i++) {
      Kind kind = other.kind(i);
      if (kind == Kind.READ_LIST) {
        add(kind, other.key(i), elements.size(), other.length(i));
        for (int at = 0; at < other.length(i); at++) {
          elements.add(other.element(i, at));
        }
      } else {
        add(kind, other.key(i), other.value(i), other.length(i));
      }
    }
  }

  Kind kind(int access) {
    return KINDS[kinds.get(access)];
  }

  boolean isWrite(int access) {
    return kinds.get(access) <= Kind.WRITE.code;
  }

  boolean isOfList(int access) {
    return kind(access) == Kind.APPEND || kind(access) == Kind.READ_LIST;
  }

  boolean isRange(int access) {
    return kinds.get(access) >= Kind.RANGE_OF_LISTS.code;
  }

  /** Whether there is a range read. */
  boolean hasRangeReads() {
    return hasRangeReads;
  }

  /** The number of the next access; for a range read, that behind the reads that belong to it. */
  int next(int access) {
    return access + 1 + (isRange(access) ? length(access) : 0);
  }

  /** The number of the range read that a read belongs to; negative if to none. */
  int rangeOf(int access) {
    return ranges.get(access);
  }

  int from(int range) {
    return bounds.get(2 * range);
  }

  int to(int range) {
    return bounds.get(2 * range + 1);
  }

  /** Whether a range was read that did not contain this key. */
  boolean isAbsentInRange(int access) {
    return ranges.get(access) != NO_RANGE && showsNothing(access);
  }

  /** Whether a read found no value. */
  boolean showsNothing(int read) {
    return isOfList(read) ? length(read) == 0 : value(read) == Access.NIL;
  }

  /** The key; for a range, its first. */
  int key(int access) {
    return keys.get(access);
  }

  /** The value of a write or of a read of a register. For a range, the key behind its last one. */
  int value(int access) {
    return values.get(access);
  }

  /** The length of the list that was read. For a range, the number of keys found. */
  int length(int access) {
    return lengths.get(access);
  }

  /** An element of the list that was read. */
  int element(int access, int at) {
    return elements.get(values.get(access) + at);
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

  @SuppressWarnings("unchecked") // a range is followed only by reads of its kind
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
