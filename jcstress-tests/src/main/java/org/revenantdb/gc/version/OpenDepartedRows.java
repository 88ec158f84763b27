package org.revenantdb.gc.version;

import org.jspecify.annotations.NullMarked;

/** The departed rows of one table with one row, and the words beside them. */
@NullMarked
public final class OpenDepartedRows {
  private static final int TABLE = 7;
  private static final byte[] ROW = {1, 0};

  private final DepartedRows departed = new DepartedRows(_ -> {}, _ -> {});
  private final UnseenDeletes words = new UnseenDeletes(departed);

  /** No row has departed. */
  public OpenDepartedRows() {}

  /** Lets the row depart. */
  public void depart(long deletedAt) {
    departed.add(TABLE, ROW, deletedAt);
  }

  /** Drops the key, since no snapshot sees the row, and keeps the word. */
  public void forget() {
    departed.forget(
        0,
        (table, key, deletedAt) -> {
          words.taken(table, key, deletedAt);
          return true;
        });
  }

  /** The delete that an insert of the row through a snapshot is checked against. */
  public long after(long snapshot) {
    return words.after(TABLE, ROW, snapshot);
  }

  /** Whether a scan of a snapshot finds the key. */
  public boolean finds(long snapshot) {
    return !departed
        .keys(TABLE, new byte[0], /* to= */ null, snapshot, 1, /* descending= */ false)
        .isNothing();
  }
}
