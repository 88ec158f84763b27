package org.revenantdb.recovery.log;

import java.util.zip.CRC32C;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;

/**
 * Reads the records of a piece in order, and judges each.
 *
 * <p>Threads: one.
 */
public final class PieceReader {
  private final LogPiece piece;
  private final CRC32C crc = new CRC32C();
  private int at;
  private int length;

  /**
   * Stands before the first record.
   *
   * @param piece the records
   */
  public PieceReader(LogPiece piece) {
    this.piece = piece;
  }

  /**
   * Moves to the next record.
   *
   * @return false behind the last one, and before one that is not good
   */
  public boolean next() {
    int next = at + length;
    if (isEnd() || !isGood(next)) {
      return false;
    }
    at = next;
    length = LittleEndian.getInt(piece.records(), next + LogRecordLayout.LENGTH);
    return true;
  }

  /**
   * Returns whether the present record is the last one.
   *
   * @return true behind it as well
   */
  public boolean isEnd() {
    return at + length == piece.records().length;
  }

  private boolean isGood(int start) {
    byte[] bytes = piece.records();
    if (start + LogRecordLayout.HEADER > bytes.length) {
      return false;
    }
    int size = LittleEndian.getInt(bytes, start + LogRecordLayout.LENGTH);
    if (!LogRecordLayout.isSane(size)
        || start + size > bytes.length
        || LittleEndian.getLong(bytes, start + LogRecordLayout.LSN) != piece.from() + start + size
        || LittleEndian.getInt(bytes, start + LogRecordLayout.LIFE) != piece.life()) {
      return false;
    }
    crc.reset();
    crc.update(bytes, start + LogRecordLayout.LSN, size - LogRecordLayout.LSN);
    return (int) crc.getValue() == LittleEndian.getInt(bytes, start + LogRecordLayout.CRC);
  }

  /**
   * Returns where the present record starts.
   *
   * @return the position of its first byte
   */
  public long start() {
    return piece.from() + at;
  }

  /**
   * Returns the LSN of the present record; before the first one, the begin of the piece.
   *
   * @return the position behind its last byte
   */
  public long lsn() {
    return piece.from() + at + length;
  }

  /**
   * Returns whether the present record is the commit of a transaction.
   *
   * @param transactionId the transaction
   * @return false for any other record
   */
  public boolean isCommitOf(long transactionId) {
    return piece.records()[at + LogRecordLayout.TYPE] == RecordType.COMMIT.code()
        && LittleEndian.getLong(piece.records(), at + LogRecordLayout.TRANSACTION) == transactionId;
  }

  /** Receives the parts of a record. */
  @FunctionalInterface
  public interface Parts {
    /**
     * A part.
     *
     * @param page the page that it changes
     * @param bytes has the operations
     * @param from where they begin
     * @param length how many bytes they have
     */
    void part(long page, byte[] bytes, int from, int length);
  }

  /**
   * Passes the parts of the present record, if it changes pages.
   *
   * @param parts receives each
   * @return false if the parts do not end with the record
   */
  public boolean forEachPart(Parts parts) {
    byte[] bytes = piece.records();
    if (bytes[at + LogRecordLayout.TYPE] != RecordType.PAGES.code()) {
      return true;
    }
    int end = at + length - bytes[at + LogRecordLayout.PADDING];
    int part = at + LogRecordLayout.HEADER;
    while (part + LogRecordLayout.PART_HEADER <= end) {
      int operations = LittleEndian.getShort(bytes, part + LogRecordLayout.PART_LENGTH);
      int from = part + LogRecordLayout.PART_HEADER;
      if (from + operations > end) {
        return false;
      }
      long page =
          Integer.toUnsignedLong(LittleEndian.getInt(bytes, part + LogRecordLayout.PART_PAGE));
      parts.part(page, bytes, from, operations);
      part = from + operations;
    }
    return part == end;
  }
}
