package org.revenantdb.engine.page;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.KeyHash;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * A table's row in the catalogue: the id and the root page of its tree, or of the tree of each of
 * its partitions.
 *
 * <pre>
 *   0 u32 table id   4 u32 root page                                     an ordinary table ends here
 *   8 u8 kind = 1    9 u8 hash function   10 u16 partitions n   12 u32 root pages of 1 to n - 1
 * </pre>
 *
 * <p>Immutable.
 */
public final class TableRow {
  /** Most partitions of a table. */
  public static final int MAX_PARTITIONS = 64;

  private static final int ID = 0;
  private static final int ROOT = ID + Integer.BYTES;
  private static final int ORDINARY = ROOT + Integer.BYTES;
  private static final int KIND = ORDINARY;
  private static final int FUNCTION = KIND + 1;
  private static final int PARTITIONS = FUNCTION + 1;
  private static final int ROOTS = PARTITIONS + Short.BYTES;

  /** Kind of a row: partitioned by a hash of the key. */
  private static final int HASHED = 1;

  private final int id;
  private final int[] roots;

  /**
   * A row.
   *
   * @param id of the tree, or of the first partition's
   * @param roots root pages: one, or that of each partition
   */
  public TableRow(int id, int[] roots) {
    this.id = id;
    this.roots = roots.clone();
  }

  /** How many trees the table has: 1 if it has no partitions. */
  public int trees() {
    return roots.length;
  }

  /** The id in the pages of a tree. */
  public int id(int tree) {
    return id + tree;
  }

  /** The highest id of its trees. */
  public int lastId() {
    return id(trees() - 1);
  }

  /** Root page of a tree. */
  public int root(int tree) {
    return roots[tree];
  }

  /** The row with another root page of one tree. */
  public TableRow withRoot(int tree, int root) {
    TableRow row = new TableRow(id, roots);
    row.roots[tree] = root;
    return row;
  }

  /** The row without its last tree; it has several. */
  public TableRow withoutLast() {
    return new TableRow(id, Arrays.copyOf(roots, trees() - 1));
  }

  /** As it is stored. */
  public byte[] bytes() {
    boolean hashed = trees() > 1;
    byte[] row = new byte[hashed ? ROOTS + (trees() - 1) * Integer.BYTES : ORDINARY];
    LittleEndian.putInt(row, ID, id);
    LittleEndian.putInt(row, ROOT, roots[0]);
    if (hashed) {
      row[KIND] = HASHED;
      row[FUNCTION] = KeyHash.FUNCTION;
      LittleEndian.putShort(row, PARTITIONS, trees());
      for (int tree = 1; tree < trees(); tree++) {
        LittleEndian.putInt(row, ROOTS + (tree - 1) * Integer.BYTES, roots[tree]);
      }
    }
    return row;
  }

  /** The row in these bytes, or null if they cannot be decoded. */
  public static @Nullable TableRow of(byte[] row) {
    int trees = 1;
    if (row.length != ORDINARY) {
      if (row.length < ROOTS || row[KIND] != HASHED || row[FUNCTION] != KeyHash.FUNCTION) {
        return null;
      }
      trees = LittleEndian.getShort(row, PARTITIONS);
      if (trees < 2
          || trees > MAX_PARTITIONS
          || row.length != ROOTS + (trees - 1) * Integer.BYTES) {
        return null;
      }
    }
    int[] roots = new int[trees];
    roots[0] = LittleEndian.getInt(row, ROOT);
    for (int tree = 1; tree < trees; tree++) {
      roots[tree] = LittleEndian.getInt(row, ROOTS + (tree - 1) * Integer.BYTES);
    }
    return legal(LittleEndian.getInt(row, ID), roots);
  }

  /** A row with these ids and roots, or null if they are impossible for trees. */
  static @Nullable TableRow legal(int id, int[] roots) {
    boolean legal = id > 0 && id <= Integer.MAX_VALUE - MAX_PARTITIONS;
    for (int tree = 0; tree < roots.length; tree++) {
      legal &= PageStructure.isLink(roots[tree]);
      for (int other = 0; other < tree; other++) {
        legal &= roots[tree] != roots[other];
      }
    }
    return legal ? new TableRow(id, roots) : null;
  }
}
