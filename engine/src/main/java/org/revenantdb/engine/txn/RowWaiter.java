package org.revenantdb.engine.txn;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One stay in {@link RowWaiters}: a transaction that sleeps until another one has ended, because it
 * wants a row of that transaction. Everything except {@link #isWoken} requires the lock of the
 * waiters.
 */
public final class RowWaiter {
  /**
   * A row.
   *
   * @param tree id of its tree
   * @param key not to be changed
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by what is in it
  public record Row(int tree, byte[] key) {
    private static final int NO_TREE = -1;

    /**
     * A placeholder for a wait until a transaction has ended that is not for one of its rows.
     *
     * @param number a number that no other such wait has
     */
    public static Row ofNobody(int number) {
      return new Row(NO_TREE, ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Row(int otherTree, byte[] otherKey)
          && tree == otherTree
          && Arrays.equals(key, otherKey);
    }

    @Override
    public int hashCode() {
      return 31 * tree + Arrays.hashCode(key);
    }
  }

  final long own;
  final Row row;

  /** The transaction for whose end it sleeps; for an heir, the one behind which it sleeps. */
  long holder;

  /** Whether it sleeps behind a transaction that may not hold the row. */
  boolean isHeir;

  /** Where it queues; null if nowhere. */
  @Nullable ArrayDeque<RowWaiter> queue;

  private volatile boolean isWoken;

  /**
   * Makes a stay that has not begun.
   *
   * @param own id of the transaction that waits
   * @param holder id of the one that has written the row
   */
  public RowWaiter(long own, long holder, Row row) {
    this.own = own;
    this.holder = holder;
    this.row = row;
  }

  /** Whether it was woken, to check again. */
  public boolean isWoken() {
    return isWoken;
  }

  void setWoken() {
    isWoken = true;
  }
}
