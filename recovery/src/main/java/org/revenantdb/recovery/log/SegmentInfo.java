package org.revenantdb.recovery.log;

import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.SegmentPlace;

/**
 * The header of a segment, as far as a copy of its log needs it.
 *
 * @param begin the first position
 * @param size bytes of the file
 * @param life the life that wrote it
 * @param firstLsn the first LSN of the life if this is its first segment, else 0
 * @param formerEnd the end of the former life if this is the first segment of a life, else 0
 * @param durable the durable LSN when the header was written
 * @param buffer size of the life's log buffer
 */
public record SegmentInfo(
    long begin, int size, int life, long firstLsn, long formerEnd, long durable, int buffer) {

  /**
   * Returns what a copy needs of a header.
   *
   * @param header the header
   * @return its fields
   */
  public static SegmentInfo of(SegmentHeader header) {
    return new SegmentInfo(
        header.begin(),
        header.size(),
        header.life(),
        header.firstLsn(),
        header.formerEnd(),
        header.durable(),
        header.buffer());
  }

  SegmentHeader header() {
    return new SegmentHeader(
        begin, size, life, firstLsn, formerEnd, /* sealedEnd= */ 0, durable, buffer);
  }

  /**
   * Returns whether a database can have such a segment.
   *
   * @param fullSize the full size of its segments
   * @return false if a number is out of range
   */
  public boolean isLegal(int fullSize) {
    return SegmentLayout.isSegment(begin, size)
        && size <= fullSize
        && life >= 1
        && (firstLsn == 0 || firstLsn == begin)
        && formerEnd >= 0
        && formerEnd <= firstLsn
        && durable > 0
        && durable <= end()
        && SegmentLayout.isBuffer(buffer);
  }

  /**
   * Returns the position behind the last one.
   *
   * @return where the next segment begins
   */
  public long end() {
    return new SegmentPlace(begin, size).end();
  }
}
