package org.revenantdb.recovery.log;

import org.revenantdb.recovery.format.LogRecordLayout;

/**
 * The body of a {@link RecordType#FLUSHED} record: pages whose changes up to an LSN are forced in
 * the data file; {@code docs/protocols.md} §9.
 *
 * <pre>
 *   40      44                                   44 + 12 i
 *   +-------+--------+----------------+  ...     +--------+----------------+
 *   | count | page 0 |     LSN 0      |          | page i |     LSN i      |
 *   +-------+--------+----------------+  ...     +--------+----------------+
 * </pre>
 */
public final class FlushedPages {
  /** u32: how many pages follow. */
  public static final int COUNT = LogRecordLayout.HEADER;

  /** The first page. */
  public static final int PAGES = COUNT + Integer.BYTES;

  /** In an entry, u32: the page. */
  public static final int PAGE = 0;

  /** In an entry, u64: the LSN. */
  public static final int LSN = PAGE + Integer.BYTES;

  /** Size of an entry. */
  public static final int ENTRY = LSN + Long.BYTES;

  private FlushedPages() {}

  /**
   * Bytes of a record, padding included.
   *
   * @param count the number of pages in it
   * @return its length
   */
  public static int bytes(int count) {
    return LogRecordLayout.aligned(PAGES + count * ENTRY);
  }

  /**
   * Builds a record.
   *
   * @param record the builder
   * @param count the number of pages
   * @param pageIds their ids
   * @param lsns the LSN that each has in the data file
   * @return the builder
   */
  public static RecordBuilder build(RecordBuilder record, int count, int[] pageIds, long[] lsns) {
    record.begin(RecordType.FLUSHED, /* transactionId= */ 0);
    record.putInt(count);
    for (int i = 0; i < count; i++) {
      record.putInt(pageIds[i]);
      record.putLong(lsns[i]);
    }
    return record;
  }
}
