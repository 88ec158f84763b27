package org.revenantdb.recovery.format;

/**
 * The layout of a log record; {@code docs/format.md} §2.2 has the meaning of the fields.
 *
 * <pre>
 *   0        4        8                16               24               32     36   37   38     40
 *   +--------+--------+----------------+----------------+----------------+------+----+----+------+------
 *   | length |  CRC   |  LSN = end of  |  durable LSN   |  transaction   | life |type|pad |ahead | body
 *   |        | of 8.. |  this record   |  when made     |  id            |      |    |    |      |
 *   +--------+--------+----------------+----------------+----------------+------+----+----+------+------
 * </pre>
 *
 * <p>The log buffer keeps the end of each published record in a separate array. So no byte of a
 * record has to show whether it is published.
 */
public final class LogRecordLayout {
  /** u32: bytes of the record, header and padding included. */
  public static final int LENGTH = 0;

  /** u32: CRC32C of everything from {@link #LSN} to the end of the record. */
  public static final int CRC = LENGTH + Integer.BYTES;

  /** u64: the position after the record's last byte (R11). */
  public static final int LSN = CRC + Integer.BYTES;

  /** u64: the durable LSN known when the record was made (R6). */
  public static final int DURABLE = LSN + Long.BYTES;

  /** u64: the transaction, 0 = the system. */
  public static final int TRANSACTION = DURABLE + Long.BYTES;

  /** u32: the life that wrote the record. */
  public static final int LIFE = TRANSACTION + Long.BYTES;

  /** u8: the type. */
  public static final int TYPE = LIFE + Integer.BYTES;

  /** u8: how many bytes at the end are padding. */
  public static final int PADDING = TYPE + 1;

  /**
   * u16: how far from the record's start on the log was known to have segments, in units of {@link
   * #AHEAD_UNIT}, rounded down.
   */
  public static final int AHEAD = PADDING + 1;

  /** Positions; no segment has fewer, so what is rounded off is less than a segment. */
  public static final int AHEAD_UNIT = 4096;

  /** Size of the header; the body follows. */
  public static final int HEADER = AHEAD + Short.BYTES;

  /** Every record starts and ends at a multiple of this. */
  public static final int ALIGNMENT = Long.BYTES;

  /** The longest record. */
  public static final int MAX_LENGTH = 1 << 17;

  /** In a part, u32: the page. */
  public static final int PART_PAGE = 0;

  /** In a part, u8: what kind of part. */
  public static final int PART_KIND = PART_PAGE + Integer.BYTES;

  /** In a part, u16: bytes of operations that follow. */
  public static final int PART_LENGTH = PART_KIND + 2;

  /** Size of a part's header; the operations follow. */
  public static final int PART_HEADER = PART_LENGTH + Short.BYTES;

  private LogRecordLayout() {}

  /**
   * Whether a length can be that of a record.
   *
   * @param length the value of the length field
   * @return true if a record may have this length
   */
  public static boolean isSane(int length) {
    return length >= HEADER && length <= MAX_LENGTH && (length & (ALIGNMENT - 1)) == 0;
  }

  /**
   * The next multiple of the alignment.
   *
   * @param length a number of bytes
   * @return the same or up to seven more
   */
  public static int aligned(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
