package org.revenantdb.jmh.insert;

import java.io.IOException;

/**
 * A table into which many sessions insert rows, each in a transaction of its own: the number of the
 * row, eight bytes, and fifty bytes at the most.
 */
public interface InsertStore extends AutoCloseable {
  /**
   * Inserts the next row.
   *
   * @param value the caller's, who does not change it
   * @throws Exception whatever the engine throws
   */
  void insert(byte[] value) throws Exception;

  /**
   * How many rows there are.
   *
   * @return counted by reading them, or as the engine says
   * @throws Exception whatever the engine throws
   */
  long rows() throws Exception;

  @Override
  void close() throws IOException;
}
