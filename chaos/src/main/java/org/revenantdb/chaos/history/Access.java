package org.revenantdb.chaos.history;

import java.util.Arrays;
import java.util.List;

/**
 * What a transaction did to one key, or was shown of a range of keys. A key is of one workload: a
 * list that is appended to, or a register that is overwritten.
 */
public sealed interface Access {

  /** What a register holds that was never written, where a number is needed for it. */
  int NIL = Integer.MIN_VALUE;

  /**
   * The key.
   *
   * @return the key; of a range, its first
   */
  int key();

  /**
   * Adds a value to the end of a list.
   *
   * @param key of the list
   * @param value that nobody else appends to it
   */
  record Append(int key, int value) implements Access {}

  /**
   * Overwrites a register.
   *
   * @param key of the register
   * @param value that nobody else writes to it
   */
  record Write(int key, int value) implements Access {}

  /**
   * Was given a whole list.
   *
   * @param key of the list
   * @param values from the first that was appended to the last
   */
  record ReadList(int key, List<Integer> values) implements Access {
    /** Copies the values. */
    public ReadList {
      values = List.copyOf(values);
    }
  }

  /**
   * Was given what a register holds.
   *
   * @param key of the register
   * @param value {@link #NIL} if there was none
   */
  record ReadRegister(int key, int value) implements Access {}

  /**
   * Was given all lists of a range of keys: a key of it that is not among them has no list.
   *
   * @param from the first key
   * @param to behind the last key
   * @param found what was there, by rising keys
   */
  record ReadLists(int from, int to, List<ReadList> found) implements Access {
    /** Copies the lists, and checks that they are of the range. */
    public ReadLists {
      found = List.copyOf(found);
      checkRange(from, to, found);
    }

    @Override
    public int key() {
      return from;
    }
  }

  /**
   * Was given all registers of a range of keys: one that is not among them was never written.
   *
   * @param from the first key
   * @param to behind the last key
   * @param found what was there, by rising keys
   */
  record ReadRegisters(int from, int to, List<ReadRegister> found) implements Access {
    /** Copies the reads, and checks that they are of the range. */
    public ReadRegisters {
      found = List.copyOf(found);
      checkRange(from, to, found);
    }

    @Override
    public int key() {
      return from;
    }
  }

  private static void checkRange(int from, int to, List<? extends Access> found) {
    long behind = from;
    for (Access access : found) {
      if (access.key() < behind || access.key() >= to) {
        throw new IllegalArgumentException(
            "key %d does not follow in the range from %d to %d".formatted(access.key(), from, to));
      }
      behind = access.key() + 1L;
    }
  }

  /**
   * An append.
   *
   * @param key of the list
   * @param value what is appended
   * @return the access
   */
  static Access append(int key, int value) {
    return new Append(key, value);
  }

  /**
   * A write.
   *
   * @param key of the register
   * @param value what is written
   * @return the access
   */
  static Access write(int key, int value) {
    return new Write(key, value);
  }

  /**
   * A read of a list.
   *
   * @param key of the list
   * @param values what it held
   * @return the access
   */
  static Access readList(int key, int... values) {
    return new ReadList(key, Arrays.stream(values).boxed().toList());
  }

  /**
   * A read of a register.
   *
   * @param key of the register
   * @param value what it held, or {@link #NIL}
   * @return the access
   */
  static Access read(int key, int value) {
    return new ReadRegister(key, value);
  }

  /**
   * A read of all lists of a range.
   *
   * @param from the first key
   * @param to behind the last key
   * @param found made by {@link #readList}, by rising keys
   * @return the access
   */
  static Access readLists(int from, int to, Access... found) {
    return new ReadLists(from, to, Arrays.stream(found).map(ReadList.class::cast).toList());
  }

  /**
   * A read of all registers of a range.
   *
   * @param from the first key
   * @param to behind the last key
   * @param found made by {@link #read}, by rising keys
   * @return the access
   */
  static Access readRegisters(int from, int to, Access... found) {
    return new ReadRegisters(from, to, Arrays.stream(found).map(ReadRegister.class::cast).toList());
  }
}
