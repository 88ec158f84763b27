package org.revenantdb.engine.buffer;

import java.util.Arrays;
import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.Tally;

/** The classes of pages that are counted apart, as small numbers. */
final class PageClasses {
  static final int LEAF = 0;
  static final int INNER = 1;
  static final int OVERFLOW = 2;
  static final int MAP = 3;

  /** What is none of these: a page that is new, or unreadable, or of the catalog's. */
  static final int OTHER = 4;

  static final int COUNT = 5;

  private PageClasses() {}

  /** Class of a page by its type; any number is a type, as a page may be read while it changes. */
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
   * Whether a page is one of the few that many others are found through. Optimistic descents make
   * only leaves warmer, and who misses a leaf would miss the way to it, too.
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
