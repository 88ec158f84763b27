package org.revenantdb.engine;

import java.util.List;

/** Receives the values of {@link Transaction#getAll(Table, List, ValueVisitor)}. */
@FunctionalInterface
public interface ValueVisitor {
  /**
   * Called for each row that exists, in the order of the table.
   *
   * @param index of the key in the list of the caller
   * @param value a copy of the value, which the visitor may keep
   */
  void value(int index, byte[] value);
}
