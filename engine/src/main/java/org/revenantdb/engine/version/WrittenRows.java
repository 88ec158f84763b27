package org.revenantdb.engine.version;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;

/**
 * The rows that one transaction has written, each recorded at its first write, as long as they are
 * few: they are used to put the rows back (protocols.md §27). Reused by the next transaction; for
 * one thread at a time.
 */
final class WrittenRows {
  /** The greatest number of bytes of keys. */
  private static final int MOST_BYTES = 32 * 1024;

  private static final int USUAL = 16;

  private @Nullable Tree[] trees = new Tree[USUAL];
  private int[] ends = new int[USUAL];
  private byte[] keys = new byte[USUAL * USUAL];
  private int count;

  /** The greatest number of rows. */
  private int most;

  private boolean complete;

  /** Makes an object without rows. */
  WrittenRows() {}

  /** Called when a transaction begins; at most this many rows are recorded. */
  void begin(int rows) {
    clear();
    most = rows;
    complete = rows > 0;
  }

  /** Whether all rows of the transaction are recorded. */
  boolean isComplete() {
    return complete;
  }

  /** The number of rows. */
  int count() {
    return count;
  }

  /** The tree of a row. */
  Tree tree(int row) {
    return Objects.requireNonNull(trees[row]);
  }

  /** The key of a row. */
  byte[] key(int row) {
    return Arrays.copyOfRange(keys, row == 0 ? 0 : ends[row - 1], ends[row]);
  }

  /** Makes room for one more row, so that {@link #add} cannot fail. */
  void prepare(byte[] key) {
    if (!complete || isTooMuch(key)) {
      return;
    }
    if (used() + key.length > keys.length) {
      keys = Arrays.copyOf(keys, Math.max(2 * keys.length, used() + key.length));
    }
    if (count == trees.length) {
      ends = Arrays.copyOf(ends, 2 * count);
      trees = Arrays.copyOf(trees, 2 * count); // last: its length counts
    }
  }

  /** Adds the prepared row, which is on its page; or gives up. */
  void add(Tree tree, byte[] key) {
    if (!complete) {
      return;
    }
    if (isTooMuch(key)) {
      giveUp();
      return;
    }
    int used = used();
    System.arraycopy(key, 0, keys, used, key.length);
    ends[count] = used + key.length;
    trees[count++] = tree;
  }

  private boolean isTooMuch(byte[] key) {
    return count == most || used() + key.length > MOST_BYTES;
  }

  private int used() {
    return count == 0 ? 0 : ends[count - 1];
  }

  /** Gives up: records no more rows. */
  void giveUp() {
    complete = false;
    clear();
  }

  /** The transaction has ended. */
  void clear() {
    Arrays.fill(trees, 0, count, null);
    count = 0;
  }
}
