package org.revenantdb.recovery.log;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.segment.SegmentHeader;

/**
 * Receives the records that a {@link LogCopy} makes.
 *
 * <p>Threads: that of the copy.
 */
public interface LogTarget extends AutoCloseable {
  /** Finds the header of the original's segment that holds a position. */
  @FunctionalInterface
  interface Headers {
    /**
     * Returns the header of a segment.
     *
     * @param lsn a position in it
     * @return the header; null if the original does not have the segment any more
     */
    @Nullable SegmentHeader at(long lsn);

    /**
     * Returns the segments that hold records.
     *
     * @param start position of the first record
     * @param length how many bytes they have
     * @return the segments in order; empty if the original does not have one of them any more
     */
    default List<SegmentInfo> of(long start, int length) {
      List<SegmentInfo> segments = new ArrayList<>();
      for (long at = start; at < start + length; at = segments.getLast().end()) {
        SegmentHeader header = at(at);
        if (header == null) {
          return List.of();
        }
        segments.add(SegmentInfo.of(header));
      }
      return segments;
    }
  }

  /**
   * Takes whole records. They may lie in several segments.
   *
   * @param start position of the first one
   * @param bytes an array with the records; the caller uses it again afterwards
   * @param offset where they begin in it
   * @param length how many bytes they have
   * @param headers the segments of the original
   * @return false if a header is not there
   */
  boolean write(long start, byte[] bytes, int offset, int length, Headers headers);

  /** Called after the last record. */
  void finish();

  @Override
  void close();
}
