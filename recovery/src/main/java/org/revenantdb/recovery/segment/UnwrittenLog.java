package org.revenantdb.recovery.segment;

/**
 * Records that were published and are in no segment yet. They continue the log behind the end of
 * the segments.
 *
 * @param start where the segments end
 * @param bytes whole records, from there on
 */
@SuppressWarnings("ArrayRecordComponent") // never compared nor printed
public record UnwrittenLog(long start, byte[] bytes) {
  /**
   * Returns the end of these records.
   *
   * @return the LSN of its last record
   */
  public long end() {
    return start + bytes.length;
  }

  /**
   * Returns whether a position is behind the end of the segments.
   *
   * @param lsn the position
   * @return true from {@link #start} on
   */
  public boolean isFrom(long lsn) {
    return lsn >= start;
  }

  /**
   * Returns how many bytes of a range lie in the segments.
   *
   * @param lsn its beginning, before {@link #start}
   * @param length its length
   * @return the number of bytes before {@link #start}
   */
  public int inSegments(long lsn, int length) {
    return (int) Math.min(length, start - lsn);
  }

  /**
   * Copies bytes.
   *
   * @param lsn the position of the first one, from {@link #start} on
   * @param target where they go
   * @param at the index of the first one
   * @param most how many
   * @return how many there were
   */
  public int copy(long lsn, byte[] target, int at, int most) {
    int length = (int) Math.max(0, Math.min(most, end() - lsn));
    if (length > 0) {
      System.arraycopy(bytes, (int) (lsn - start), target, at, length);
    }
    return length;
  }
}
