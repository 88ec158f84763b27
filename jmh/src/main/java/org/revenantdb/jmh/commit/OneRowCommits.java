package org.revenantdb.jmh.commit;

/**
 * An engine that commits one row durably: the log is forced before the call returns. It is the same
 * promise for all: neither the kill of the process nor a power cut takes the row back.
 */
public interface OneRowCommits extends AutoCloseable {
  /**
   * Stores a row in a separate transaction.
   *
   * @param key of the row
   * @param value of the row
   * @throws Exception whatever the engine throws
   */
  void commit(byte[] key, byte[] value) throws Exception;

  @Override
  void close();
}
