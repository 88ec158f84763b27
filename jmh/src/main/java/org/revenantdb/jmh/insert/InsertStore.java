package org.revenantdb.jmh.insert;

import java.io.IOException;

/**
 * A table into which many sessions insert rows, each in a separate transaction: the number of the
 * row, eight bytes, and at most fifty bytes.
 */
public interface InsertStore extends AutoCloseable {
  /**
   * Inserts the next row.
   *
   * @param value belongs to the caller, which does not change it
   * @throws Exception whatever the engine throws
   */
  void insert(byte[] value) throws Exception;

  /**
   * How many rows there are.
   *
   * @return counted by reading them, or by the engine
   * @throws Exception whatever the engine throws
   */
  long rows() throws Exception;

  @Override
  void close() throws IOException;
}
