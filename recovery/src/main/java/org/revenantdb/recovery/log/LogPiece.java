package org.revenantdb.recovery.log;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.segment.SegmentHeader;

/**
 * Whole records of one life, as a copy of the log has them ({@code docs/protocols.md} §47, §49).
 *
 * @param from where the first record starts
 * @param to the LSN of the last one
 * @param life the life
 * @param segments the segments that hold these positions, in order
 * @param records their bytes, {@code to - from} of them
 */
@SuppressWarnings("ArrayRecordComponent") // never compared nor printed
public record LogPiece(long from, long to, int life, List<SegmentInfo> segments, byte[] records) {

  @Nullable SegmentHeader headerAt(long lsn) {
    for (SegmentInfo one : segments) {
      if (lsn >= one.begin() && lsn < one.end()) {
        return one.header();
      }
    }
    return null;
  }
}
