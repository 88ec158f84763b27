package org.revenantdb.recovery.log;

import org.revenantdb.recovery.format.LogRecordLayout;

/**
 * The body of a {@link RecordType#FORGET} record: transactions of which nothing is left.
 *
 * <pre>
 *   40      44                 44 + 8 i
 *   +-------+--------+  ...    +--------+
 *   | count |  id 0  |         |  id i  |
 *   +-------+--------+  ...    +--------+
 * </pre>
 */
public final class ForgottenIds {
  /** u32: how many ids follow. */
  public static final int COUNT = LogRecordLayout.HEADER;

  /** The first id, u64. */
  public static final int IDS = COUNT + Integer.BYTES;

  private ForgottenIds() {}

  /**
   * Builds a record.
   *
   * @param record the builder
   * @param ids the transactions, at most as many as fit into a record
   * @return the builder
   */
  public static RecordBuilder build(RecordBuilder record, long... ids) {
    record.begin(RecordType.FORGET, /* transactionId= */ 0);
    record.putInt(ids.length);
    for (long id : ids) {
      record.putLong(id);
    }
    return record;
  }
}
