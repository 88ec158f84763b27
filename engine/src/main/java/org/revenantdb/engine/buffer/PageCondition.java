package org.revenantdb.engine.buffer;

/** What was found at a page's place. */
public enum PageCondition {
  /** The complete page. */
  GOOD,
  /** Only zeros: the place was prepared, but no page was ever written there. */
  NEVER_WRITTEN,
  /** Bytes that cannot be this page: checksum, page id or LSN are wrong. */
  DAMAGED,
  /** Nothing: the file ends before the page does. */
  BEYOND_END
}
