package org.revenantdb.chaos.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Accesses as columns of numbers: a history of a hundred thousand transactions is a few arrays.
 *
 * <p>Threads: one writes; any may read when it is done.
 */
final class Accesses {

  enum Kind {
    APPEND(0),
    WRITE(1),
    READ_LIST(2),
    READ_REGISTER(3);

    private final int code;

    Kind(int code) {
      this.code = code;
    }
  }

  /** By their codes. */
  private static final Kind[] KINDS = Kind.values();

  private final Ints kinds = new Ints();
  private final Ints keys = new Ints();

  /** What was written or a register held; of a list, where in {@link #elements} it begins. */
  private final Ints values = new Ints();

  private final Ints lengths = new Ints();
  private final Ints elements = new Ints();

  int size() {
    return kinds.size();
  }

  void clear() {
    kinds.clear();
    keys.clear();
    values.clear();
    lengths.clear();
    elements.clear();
  }

  void append(int key, int value) {
    add(Kind.APPEND, key, value, 0);
  }

  void write(int key, int value) {
    add(Kind.WRITE, key, value, 0);
  }

  void readList(int key, int[] list, int from, int length) {
    add(Kind.READ_LIST, key, elements.size(), length);
    elements.add(list, from, length);
  }

  void readRegister(int key, int value) {
    add(Kind.READ_REGISTER, key, value, 0);
  }

  private void add(Kind kind, int key, int value, int length) {
    kinds.add(kind.code);
    keys.add(key);
    values.add(value);
    lengths.add(length);
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
    }
  }

  /** Adds another's, from one of them to before another. */
  void addAll(Accesses other, int from, int to) {
    for (int i = from; i < to; i++) {
      Kind kind = other.kind(i);
      if (kind == Kind.READ_LIST) {
        add(kind, other.key(i), elements.size(), other.length(i));
        for (int at = 0; at < other.length(i); at++) {
          elements.add(other.element(i, at));
        }
      } else {
        add(kind, other.key(i), other.value(i), 0);
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

  int key(int access) {
    return keys.get(access);
  }

  /** Of a write or of the read of a register. */
  int value(int access) {
    return values.get(access);
  }

  /** Of the list that was read. */
  int length(int access) {
    return lengths.get(access);
  }

  /** Of the list that was read. */
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
    };
  }

  int[] list(int access) {
    int[] list = new int[length(access)];
    Arrays.setAll(list, at -> element(access, at));
    return list;
  }
}
