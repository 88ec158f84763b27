package org.revenantdb.engine.buffer;

/** What was found where a page should be. */
public enum PageCondition {
  /** The page, whole. */
  GOOD,
  /** Nothing but zeros: the page's place was prepared, but no page was ever written there. */
  NEVER_WRITTEN,
  /** Something that cannot be this page: checksum, page id or LSN are wrong. */
  DAMAGED,
  /** Nothing: the file ends before the page does. */
  BEYOND_END
}
