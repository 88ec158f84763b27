package org.revenantdb.gc.version;

import org.jspecify.annotations.NullMarked;

/** What is known of deleted rows that are gone, of one table, two of whose rows share a word. */
@NullMarked
public final class OpenUnseenDeletes {
  private static final int TABLE = 7;

  /** In leaves of their own, perhaps; the hash of their bytes is the same. */
  private static final byte[][] ROWS = {{1, 0}, {0, 31}};

  private final UnseenDeletes deletes = new UnseenDeletes();

  /** None is known. */
  public OpenUnseenDeletes() {}

  /** A row is taken away. */
  public void taken(int row, long deletedAt) {
    deletes.taken(TABLE, ROWS[row], deletedAt);
  }

  /** What an insert of a row through a snapshot is told. */
  public long after(int row, long snapshot) {
    return deletes.after(TABLE, ROWS[row], snapshot);
  }

  /** Whether whole leaves may not be put in through a snapshot. */
  public boolean anyAfter(long snapshot) {
    return deletes.anyAfter(TABLE, snapshot);
  }
}
