package org.revenantdb.gc.version;

import org.jspecify.annotations.NullMarked;

/** The notes about removed deleted rows of one table, with two rows that share a word. */
@NullMarked
public final class OpenUnseenDeletes {
  private static final int TABLE = 7;

  /** They may be in different leaves; the hash of their bytes is the same. */
  private static final byte[][] ROWS = {{1, 0}, {0, 31}};

  private final UnseenDeletes deletes = new UnseenDeletes(new DepartedRows(_ -> {}, _ -> {}));

  /** No delete is noted. */
  public OpenUnseenDeletes() {}

  /** Removes a row, and notes its delete. */
  public void taken(int row, long deletedAt) {
    deletes.taken(TABLE, ROWS[row], deletedAt);
  }

  /** The delete that an insert of a row through a snapshot is checked against. */
  public long after(int row, long snapshot) {
    return deletes.after(TABLE, ROWS[row], snapshot);
  }

  /** Whether a bulk load through a snapshot must not add whole leaves. */
  public boolean anyAfter(long snapshot) {
    return deletes.anyAfter(TABLE, snapshot);
  }
}
