package org.revenantdb.engine.archive;

import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * Which pages a change of a space map or of a GAM is about. An extent can be claimed, and a tree
 * can have it, before any of its pages is written.
 */
final class NamedPages {
  private static final int HEADER = 5;

  private NamedPages() {}

  /**
   * Returns the highest page that a part names in its operations.
   *
   * @param page the page that the part changes
   * @param record has the operations
   * @param from where they begin
   * @param length their bytes
   * @return the page; 0 if the part is of another page than a map
   */
  static long highest(long page, byte[] record, int from, int length) {
    long range = (long) ExtentMapPage.RANGE * ExtentMapPage.PAGES;
    boolean isGam = page % range == ExtentMapPage.POSITION;
    boolean isMap = page % SpaceMapPage.GROUP == SpaceMapPage.POSITION;
    long highest = 0;
    int at = from;
    while ((isGam || isMap) && at + HEADER < from + length && record[at] == PageOps.BITS) {
      int offset = LittleEndian.getShort(record, at + 1) - SpaceMapPage.HEADER;
      int mask = Byte.toUnsignedInt(record[at + HEADER]);
      if (offset >= 0 && mask != 0) {
        highest = Math.max(highest, isGam ? ofGam(page, offset, mask) : ofMap(page, offset));
      }
      at += HEADER + LittleEndian.getShort(record, at + 3);
    }
    return highest;
  }

  /** The last page of the highest extent. */
  private static long ofGam(long page, int offset, int mask) {
    long highestBit = Integer.SIZE - 1L - Integer.numberOfLeadingZeros(mask);
    long extent = (page / ExtentMapPage.PAGES) + (long) offset * Byte.SIZE + highestBit;
    return extent * ExtentMapPage.PAGES + ExtentMapPage.PAGES - 1;
  }

  private static long ofMap(long page, int offset) {
    return page - SpaceMapPage.POSITION + offset;
  }
}
