package org.revenantdb.engine.page;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The catalogue's row of a dropped table, until all its pages are freed.
 *
 * <pre>
 *   key     u8 0xFE, then the table id, u32 big-endian: behind the keys of all tables, since 0xFE is in no UTF-8, and
 *           before those of all sequences
 *   value   a {@link TableRow} with the trees that are still there: the last goes first
 * </pre>
 *
 * <p>All methods are static and pure.
 */
public final class DroppedTableRow {
  private static final byte PREFIX = (byte) 0xFE;
  private static final int KEY = 1 + Integer.BYTES;

  private DroppedTableRow() {}

  /** The key below those of all dropped tables, and above those of all tables. */
  public static byte[] firstKey() {
    return new byte[] {PREFIX};
  }

  /** The key of a table, by the id of its first tree. */
  public static byte[] key(int id) {
    return ByteBuffer.allocate(KEY).put(PREFIX).putInt(id).array();
  }

  /** Whether a key of the catalogue is that of a dropped table. */
  public static boolean isKey(byte[] key) {
    return key.length > 0 && key[0] == PREFIX;
  }

  /** The trees that still exist, or null if key and row cannot be decoded. */
  public static @Nullable TableRow of(byte[] key, byte[] row) {
    TableRow trees = TableRow.of(row);
    boolean fits =
        trees != null && key.length == KEY && ByteBuffer.wrap(key, 1, 4).getInt() == trees.id(0);
    return fits ? trees : null;
  }
}
