package org.revenantdb.recovery.restart;

import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * Which pages the log may change.
 *
 * @param first the lowest page
 * @param end the page after the highest one
 */
public record PageRange(long first, long end) {
  /** Any page: for a log without a data file. */
  public static final PageRange ANY = new PageRange(0, 1L << Integer.SIZE);

  /**
   * The pages of a data file that are not its header or control slots.
   *
   * @param bytes size of the file
   * @return the pages that it holds whole
   */
  public static PageRange ofFile(long bytes) {
    return new PageRange(PageHeaderLayout.FIRST_POOLED_PAGE, bytes / PageHeaderLayout.PAGE_SIZE);
  }
}
