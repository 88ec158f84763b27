package org.revenantdb.engine.version;

/** The rows of a range in order, batch by batch. One thread at a time. */
public interface RowSource {
  /**
   * Fills a batch with the next rows; with none only at the end. After an exception it is of no
   * more use.
   *
   * <p>From its first row to its last a batch is a piece of the range without a gap, as the
   * transaction saw it when it had written as often as the answer says.
   *
   * @param batch what was in it is forgotten
   * @param writes how often the transaction has written, now
   * @return how often it had when the oldest part of the batch was read: {@code writes} or less
   */
  long fill(RowBatch batch, long writes);
}
