package org.revenantdb.engine.version;

/** The rows of a range in order, batch by batch. One thread at a time. */
public interface RowSource {
  /**
   * Fills a batch with the next rows; with none only at the end. After an exception the source
   * cannot be used any more.
   *
   * <p>From its first to its last row a batch is a part of the range without gaps, as the
   * transaction saw it when its number of writes was the result of this call.
   *
   * @param batch its former content is dropped
   * @param writes how often the transaction has written until now
   * @return how often it had written when the oldest part of the batch was read: {@code writes} or
   *     less
   */
  long fill(RowBatch batch, long writes);
}
