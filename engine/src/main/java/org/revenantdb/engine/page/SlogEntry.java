package org.revenantdb.engine.page;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the SLog (protocols.md §31): a row of the catalogue that records what must happen to
 * some trees when a transaction has ended. It stays there until that has been done.
 *
 * <pre>
 *   key     as of a {@link DroppedTableRow}, by the id of the first tree
 *   value   0 u32 id of the first tree   4 u32 root page of it   8 u8 kind = 2, an entry   9 u8 step
 *           10 u16 trees n   12 u16 length of the name   14 u16 reserved   16 u64 transaction
 *           24 u32 root pages of trees 1 to n - 1, then the name
 * </pre>
 *
 * <p>It is longer than the {@link DroppedTableRow} of the same trees, so that row can replace it.
 *
 * @param step what the transaction has done to them
 * @param transaction its id
 * @param name key of the table's row
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record SlogEntry(TableRow trees, Step step, long transaction, byte[] name) {
  /** What the transaction has done to the trees. */
  public enum Step {
    /** It has created them: they are its own until it commits, and are freed if it aborts. */
    CREATED(0),

    /** It has dropped them: all transactions use them until it commits, and then they are freed. */
    DROPPED(1);

    private final int code;

    Step(int code) {
      this.code = code;
    }

    static @Nullable Step of(int code) {
      return code == CREATED.code ? CREATED : code == DROPPED.code ? DROPPED : null;
    }
  }

  private static final int KIND = 8;
  private static final int ENTRY = 2;
  private static final int STEP = KIND + 1;
  private static final int TREES = STEP + 1;
  private static final int NAME_LENGTH = TREES + Short.BYTES;
  private static final int TRANSACTION = NAME_LENGTH + 2 * Short.BYTES;
  private static final int ROOTS = TRANSACTION + Long.BYTES;

  /** Whether a value below a key of dropped tables is an entry, whole or damaged. */
  public static boolean is(byte[] value) {
    return value.length > KIND && value[KIND] == ENTRY;
  }

  /** Its key. */
  public byte[] key() {
    return DroppedTableRow.key(trees.id(0));
  }

  /** As it is stored. */
  public byte[] bytes() {
    ByteBuffer row =
        ByteBuffer.allocate(ROOTS + (trees.trees() - 1) * Integer.BYTES + name.length)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(trees.id(0))
            .putInt(trees.root(0))
            .put((byte) ENTRY)
            .put((byte) step.code)
            .putShort((short) trees.trees())
            .putShort((short) name.length)
            .putShort((short) 0)
            .putLong(transaction);
    for (int tree = 1; tree < trees.trees(); tree++) {
      row.putInt(trees.root(tree));
    }
    return row.put(name).array();
  }

  /** The entry of this key and value, or null if they cannot be decoded. */
  public static @Nullable SlogEntry of(byte[] key, byte[] value) {
    if (!is(value) || value.length < ROOTS) {
      return null;
    }
    ByteBuffer row = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    Step step = Step.of(row.get(STEP));
    int count = row.getShort(TREES);
    int nameLength = row.getShort(NAME_LENGTH);
    long transaction = row.getLong(TRANSACTION);
    if (step == null
        || count < 1
        || count > TableRow.MAX_PARTITIONS
        || nameLength < 1
        || nameLength > LeafCell.MAX_KEY
        || transaction <= 0
        || value.length != ROOTS + (count - 1) * Integer.BYTES + nameLength) {
      return null;
    }
    int[] roots = new int[count];
    int id = row.getInt();
    roots[0] = row.getInt();
    row.position(ROOTS);
    for (int tree = 1; tree < count; tree++) {
      roots[tree] = row.getInt();
    }
    byte[] name = new byte[nameLength];
    row.get(name);
    TableRow trees = TableRow.legal(id, roots);
    return trees != null && Arrays.equals(DroppedTableRow.key(id), key)
        ? new SlogEntry(trees, step, transaction, name)
        : null;
  }
}
