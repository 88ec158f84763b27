package org.revenantdb.jmh.tree;

import java.io.IOException;
import java.util.function.IntSupplier;

/**
 * An engine with a table of rows ({@link TreeRows}), as {@code bench tree} asks it.
 *
 * <p>A JVM has one engine, so a call through this interface has one target, which the compiler
 * inlines. It is not a wrapper with a cost. An operation that an engine does not offer is not
 * imitated; then its class documents what it does instead.
 */
public interface TreeStore extends AutoCloseable {
  /**
   * What one thread works with.
   *
   * @return another one each time, ended with the store
   * @throws Exception whatever the engine throws
   */
  Session session() throws Exception;

  /**
   * Finishes the background work for earlier writes, as far as the engine offers that.
   *
   * @throws Exception whatever the engine throws
   */
  void settle() throws Exception;

  /**
   * Loads rows into another, empty table with the engine's method for rows in key order.
   *
   * @param rows how many, from the first
   * @return whether it has anything for that
   * @throws Exception whatever the engine throws
   */
  default boolean loadSorted(int rows) throws Exception {
    return false;
  }

  /**
   * Loads rows that are in no order into another, empty table with the engine's method for that.
   *
   * @param rows how many
   * @return whether it has anything for that
   * @throws Exception whatever the engine throws
   */
  default boolean loadUnsorted(int rows) throws Exception {
    return false;
  }

  /**
   * Updates rows in one transaction, committed as the engine does by itself: durably.
   *
   * @param rows numbers of the rows, in the order of the updates
   * @param count how many updates
   * @param shift each row gets the value of the row that is so many further on
   * @throws UnsupportedOperationException if the engine is not asked that
   * @throws Exception whatever the engine throws
   */
  default void updateInOne(IntSupplier rows, int count, int shift) throws Exception {
    throw new UnsupportedOperationException("not a part of this comparison");
  }

  @Override
  void close() throws IOException;

  /** What one thread does. */
  interface Session {
    /**
     * Begins a transaction that only reads; it sees the rows of one moment.
     *
     * @throws Exception whatever the engine throws
     */
    void begin() throws Exception;

    /**
     * Finds a row, copies its value into an array and adds that up.
     *
     * @param key of an existing row
     * @return {@link TreeRows#sum}
     * @throws Exception whatever the engine throws
     */
    long read(byte[] key) throws Exception;

    /**
     * Ends the transaction.
     *
     * @throws Exception whatever the engine throws
     */
    void end() throws Exception;

    /**
     * Reads rows in key order in a separate transaction: copies the value of each into an array and
     * adds that up.
     *
     * @param from key of the first
     * @param rows how many; they are there
     * @return all sums together
     * @throws UnsupportedOperationException if the engine knows no order
     * @throws Exception whatever the engine throws
     */
    long scan(byte[] from, int rows) throws Exception;

    /**
     * Stores a row in a separate transaction, committed lazily.
     *
     * @param key belongs to the caller, which writes another one into it afterwards
     * @param value the caller's as well
     * @throws Exception whatever the engine throws
     */
    void update(byte[] key, byte[] value) throws Exception;

    /**
     * Stores rows in one transaction, committed lazily.
     *
     * @param first number of the first row
     * @param count how many
     * @throws Exception whatever the engine throws
     */
    void load(long first, int count) throws Exception;
  }
}
