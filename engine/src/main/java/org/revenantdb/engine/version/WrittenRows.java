package org.revenantdb.engine.version;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;

/**
 * The rows that one transaction has written first, as long as they are few: for putting them back
 * (protocols.md §27). One thread at a time; used again by the next transaction.
 */
final class WrittenRows {
  /** Bytes of keys. */
  private static final int MOST_BYTES = 32 * 1024;

  private static final int USUAL = 16;

  private @Nullable Tree[] trees = new Tree[USUAL];
  private int[] ends = new int[USUAL];
  private byte[] keys = new byte[USUAL * USUAL];
  private int count;

  /** Rows that are remembered at the most. */
  private int most;

  private boolean complete;

  /** None. */
  WrittenRows() {}

  /** A transaction begins; so many rows are remembered at the most. */
  void begin(int rows) {
    clear();
    most = rows;
    complete = rows > 0;
  }

  /** Whether all rows of the transaction are here. */
  boolean isComplete() {
    return complete;
  }

  /** How many there are. */
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

  /** Remembers a row that was prepared for, and is on its page; or gives up. */
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

  /** Remembers nothing any more. */
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
