package org.revenantdb.chaos.history;

import java.util.Arrays;
import java.util.List;

/**
 * What a transaction did to one key. A key is of one workload: a list that is appended to, or a
 * register that is overwritten.
 */
public sealed interface Access {

  /** What a register holds that was never written, where a number is needed for it. */
  int NIL = Integer.MIN_VALUE;

  /**
   * The key.
   *
   * @return the key
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
}
