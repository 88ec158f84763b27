package org.revenantdb.engine.buffer;

import java.util.Arrays;
import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.Tally;

/** The classes of pages that are counted separately, as small numbers. */
final class PageClasses {
  static final int LEAF = 0;
  static final int INNER = 1;
  static final int OVERFLOW = 2;
  static final int MAP = 3;

  /** Every other page: new, unreadable, or of the catalog. */
  static final int OTHER = 4;

  static final int COUNT = 5;

  private PageClasses() {}

  /**
   * The class of a page type; any number is allowed, because a page may be read while it changes.
   */
  static int of(int pageType) {
    return switch (pageType) {
      case Page.LEAF -> LEAF;
      case Page.INNER -> INNER;
      case Page.OVERFLOW_HEAD, Page.OVERFLOW_INDEX, Page.OVERFLOW_DATA, Page.SHARED_VALUES ->
          OVERFLOW;
      case Page.SPACE_MAP, Page.GAM, Page.IAM -> MAP;
      default -> OTHER;
    };
  }

  /**
   * Whether a page is one of the few through which many others are found. Optimistic descents make
   * only leaves warmer, and a thread that misses a leaf would also miss the way to it.
   */
  static boolean leadsToOthers(int pageType) {
    return pageType == Page.INNER || Page.isChangedShared(pageType);
  }

  /** A counter for each class. */
  static Tally[] counters() {
    return counters(COUNT);
  }

  static Tally[] counters(int n) {
    Tally[] counters = new Tally[n];
    Arrays.setAll(counters, i -> new Tally());
    return counters;
  }
}
