package org.revenantdb.recovery.segment;

import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * The positions of the log that a segment holds. Nothing is checked, because a file may have any
 * name.
 *
 * @param begin its first position
 * @param size its size in bytes
 */
public record SegmentPlace(long begin, int size) {

  /**
   * Returns the position behind the last one, where the next segment begins.
   *
   * @return the position
   */
  public long end() {
    return begin + SegmentLayout.payload(size);
  }

  /**
   * Returns whether the segment holds a position.
   *
   * @param lsn the position
   * @return true from the first to the last of its positions
   */
  public boolean holds(long lsn) {
    return lsn >= begin && lsn < end();
  }

  /**
   * Returns whether another place is equal. The first use of the {@code equals} of a record takes a
   * fresh JVM several milliseconds, and each restart compares places.
   *
   * @param other the other one
   * @return true if it is
   */
  public boolean isSame(@Nullable SegmentPlace other) {
    return other != null && begin == other.begin && size == other.size;
  }

  /**
   * Returns the offset of a position in the file.
   *
   * @param lsn a position that it holds
   * @return the offset
   */
  public long offset(long lsn) {
    return SegmentLayout.offset(lsn, begin);
  }
}
