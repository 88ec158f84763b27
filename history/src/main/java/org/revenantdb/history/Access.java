package org.revenantdb.history;

import java.util.Arrays;
import java.util.List;

/**
 * One access of a transaction: a write to a key, or a read of a key or a range of keys. A key
 * belongs to one workload: it is a list for appends, or a register for writes.
 */
public sealed interface Access {

  /** The value of a register that was never written, where a number is needed. */
  int NIL = Integer.MIN_VALUE;

  /**
   * Returns the key.
   *
   * @return the key; for a range, its first key
   */
  int key();

  /**
   * Adds a value to the end of a list.
   *
   * @param key of the list
   * @param value appended to this list by no other access
   */
  record Append(int key, int value) implements Access {}

  /**
   * Overwrites a register.
   *
   * @param key of the register
   * @param value written to this register by no other access
   */
  record Write(int key, int value) implements Access {}

  /**
   * A read of a whole list.
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
   * A read of a register.
   *
   * @param key of the register
   * @param value {@link #NIL} if there was none
   */
  record ReadRegister(int key, int value) implements Access {}

  /**
   * A read of all lists in a range of keys. A key of the range without a result has no list.
   *
   * @param from the first key
   * @param to the key behind the last one
   * @param found the lists, by ascending keys
   */
  record ReadLists(int from, int to, List<ReadList> found) implements Access {
    /** Copies the lists, and checks that they are in the range. */
    public ReadLists {
      found = List.copyOf(found);
      Accesses.demandInRange(from, to, found.stream().map(Access::key).toList());
    }

    @Override
    public int key() {
      return from;
    }
  }

  /**
   * A read of all registers in a range of keys. A key of the range without a result was never
   * written.
   *
   * @param from the first key
   * @param to the key behind the last one
   * @param found the registers, by ascending keys
   */
  record ReadRegisters(int from, int to, List<ReadRegister> found) implements Access {
    /** Copies the reads, and checks that they are in the range. */
    public ReadRegisters {
      found = List.copyOf(found);
      Accesses.demandInRange(from, to, found.stream().map(Access::key).toList());
    }

    @Override
    public int key() {
      return from;
    }
  }

  /**
   * Returns an append.
   *
   * @param key of the list
   * @param value what is appended
   * @return the access
   */
  static Access append(int key, int value) {
    return new Append(key, value);
  }

  /**
   * Returns a write.
   *
   * @param key of the register
   * @param value what is written
   * @return the access
   */
  static Access write(int key, int value) {
    return new Write(key, value);
  }

  /**
   * Returns a read of a list.
   *
   * @param key of the list
   * @param values the values in it
   * @return the access
   */
  static Access readList(int key, int... values) {
    return new ReadList(key, Arrays.stream(values).boxed().toList());
  }

  /**
   * Returns a read of a register.
   *
   * @param key of the register
   * @param value its value, or {@link #NIL}
   * @return the access
   */
  static Access read(int key, int value) {
    return new ReadRegister(key, value);
  }

  /**
   * Returns a read of all lists in a range.
   *
   * @param from the first key
   * @param to the key behind the last one
   * @param found made by {@link #readList}, by ascending keys
   * @return the access
   */
  static Access readLists(int from, int to, Access... found) {
    return new ReadLists(from, to, Arrays.stream(found).map(ReadList.class::cast).toList());
  }

  /**
   * Returns a read of all registers in a range.
   *
   * @param from the first key
   * @param to the key behind the last one
   * @param found made by {@link #read}, by ascending keys
   * @return the access
   */
  static Access readRegisters(int from, int to, Access... found) {
    return new ReadRegisters(from, to, Arrays.stream(found).map(ReadRegister.class::cast).toList());
  }
}
