package org.revenantdb.recovery.segment;

import org.revenantdb.recovery.format.SegmentLayout;

/**
 * Which positions of the log a segment has. Nothing is checked: a file may have any name.
 *
 * @param begin its first position
 * @param size its size in bytes
 */
public record SegmentPlace(long begin, int size) {

  /**
   * The position behind its last one, where the next segment begins.
   *
   * @return the position
   */
  public long end() {
    return begin + SegmentLayout.payload(size);
  }

  /**
   * Whether a position is in it.
   *
   * @param lsn the position
   * @return true from the first to the last of its positions
   */
  public boolean holds(long lsn) {
    return lsn >= begin && lsn < end();
  }

  /**
   * Where a position is in its file.
   *
   * @param lsn a position that it holds
   * @return the offset
   */
  public long offset(long lsn) {
    return SegmentLayout.offset(lsn, begin);
  }
}
