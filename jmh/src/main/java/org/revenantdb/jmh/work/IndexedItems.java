package org.revenantdb.jmh.work;

import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A table of {@link IndexedItem} with an index by name, unique, and one by number. One thread. */
public interface IndexedItems extends AutoCloseable {
  /**
   * Inserts rows in one transaction, lazily.
   *
   * @param first key of the first row; each other one has the next number
   * @param items the rows
   * @throws IllegalStateException if the table has one of the keys or names
   * @throws Exception whatever the engine throws
   */
  void insert(long first, List<IndexedItem> items) throws Exception;

  /**
   * Finds a row by its name.
   *
   * @param name of the row
   * @return the row, or null if there is none
   * @throws Exception whatever the engine throws
   */
  @Nullable IndexedItem named(String name) throws Exception;

  /**
   * Finds rows by their number.
   *
   * @param number of the rows
   * @return their keys, in ascending order
   * @throws Exception whatever the engine throws
   */
  List<Long> numbered(int number) throws Exception;

  /**
   * How many rows there are.
   *
   * @return the rows, and the entries of both indexes
   * @throws Exception whatever the engine throws
   */
  Counts counts() throws Exception;

  /**
   * How many there are.
   *
   * @param rows of the table
   * @param names entries of the index by name
   * @param numbers entries of the index by number
   */
  record Counts(long rows, long names, long numbers) {}

  @Override
  void close() throws SQLException;
}
