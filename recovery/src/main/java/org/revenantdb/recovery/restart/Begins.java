package org.revenantdb.recovery.restart;

import java.util.Arrays;

/** Searches the positions where the segments of a log begin. */
final class Begins {
  private Begins() {}

  /**
   * Finds the segment to which a position would belong.
   *
   * @param begins where the segments begin, in ascending order
   * @param lsn any position
   * @return the index of the last begin at or below the position; -1 if there is none
   */
  static int lastAtOrBelow(long[] begins, long lsn) {
    int found = Arrays.binarySearch(begins, lsn);
    return found >= 0 ? found : -found - 2;
  }
}
