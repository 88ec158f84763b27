package org.revenantdb.collections;

/**
 * A change feed does not have the commits behind a position any more, because it was trimmed, or
 * has no such position, because the database is an older one than that which the reader has
 * followed. The reader has to begin anew: read the tables in one transaction, and go on behind its
 * {@link ChangeFeed#position(org.revenantdb.engine.Transaction)}.
 */
public final class ChangesGoneException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The position from which was to be read. */
  private final long position;

  /** The first position from which can be read. */
  private final long first;

  /** The last position. */
  private final long last;

  ChangesGoneException(String feed, long position, long first, long last) {
    super(
        "change feed "
            + feed
            + ": position "
            + position
            + (position < first
                ? " was trimmed; commits behind position " + first + " are there"
                : " is not there yet, the last one is " + last + ": the database is an older one")
            + "; read the tables in one transaction, and go on behind its position in the feed");
    this.position = position;
    this.first = first;
    this.last = last;
  }

  /**
   * The position from which was to be read.
   *
   * @return the position
   */
  public long position() {
    return position;
  }

  /**
   * The first position from which can be read.
   *
   * @return the position
   */
  public long first() {
    return first;
  }

  /**
   * The last position of the feed.
   *
   * @return the position
   */
  public long last() {
    return last;
  }
}
