package org.revenantdb.engine;

/** Receives the values of {@link Transaction#getAll(Table, KeyBatch, ValueVisitor)}. */
@FunctionalInterface
public interface ValueVisitor {
  /**
   * Called for each row that exists, in the order of the table.
   *
   * @param index of the key in the batch
   * @param bytes an array that contains the value. The visitor must not change it, and must not use
   *     it after it returns: it has other values as well, and is used again
   * @param offset where the value begins
   * @param length how many bytes it has
   */
  void value(int index, byte[] bytes, int offset, int length);
}
