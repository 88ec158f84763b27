package org.revenantdb.collections;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A change of a row, as a {@link FeedCommit} has it.
 *
 * @param table name of the table
 * @param key bytes of the key; its own array
 * @param value bytes of the value that was stored; null if the row was deleted, or removed because
 *     it had expired
 */
@SuppressWarnings("ArrayRecordComponent") // two changes are not compared
public record FeedChange(String table, byte[] key, byte @Nullable [] value) {
  /**
   * Whether the row was deleted.
   *
   * @return true if there is no value
   */
  public boolean isDeleted() {
    return value == null;
  }

  /**
   * Whether it is a change of a table.
   *
   * @param of the table
   * @return whether the names are the same
   */
  public boolean isOf(TypedTable<?, ?> of) {
    return table.equals(of.name());
  }

  @Override
  public String toString() {
    return "FeedChange["
        + table
        + ", "
        + HexFormat.of().formatHex(key)
        + (value == null ? ", deleted]" : ", " + value.length + " bytes]");
  }
}
