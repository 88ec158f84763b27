package org.revenantdb.collections;

import java.util.Arrays;
import java.util.Spliterator;
import java.util.Spliterators.AbstractSpliterator;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Transaction;

/**
 * A read of rows of a table in a transaction. {@link TypedTable#scan} reads all rows in the order
 * of the keys; the methods of this class narrow the range or change the order. Immutable.
 *
 * {@snippet :
 * try (Stream<Row<Long, Order>> rows = orders.scan(tx).atLeast(4711L).limit(10).stream()) {
 *   rows.forEach(row -> System.out.println(row.key() + ": " + row.value()));
 * }
 * }
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public final class Scan<K, V> {
  private final TypedTable<K, V> table;
  private final Transaction transaction;
  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private final boolean isDescending;
  private final long limit;

  Scan(
      TypedTable<K, V> table,
      Transaction transaction,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean isDescending,
      long limit) {
    this.table = table;
    this.transaction = transaction;
    this.from = from;
    this.to = to;
    this.isDescending = isDescending;
    this.limit = limit;
  }

  private Scan<K, V> narrowed(byte @Nullable [] first, byte @Nullable [] end) {
    byte[] low = from == null || (first != null && compare(from, first) < 0) ? first : from;
    byte[] high = to == null || (end != null && compare(end, to) < 0) ? end : to;
    return new Scan<>(table, transaction, low, high, isDescending, limit);
  }

  private static int compare(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other);
  }

  /** The smallest bytes that are above these. */
  private static byte[] behind(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /**
   * Narrows the scan to a range.
   *
   * @param range the range
   * @return another scan
   */
  public Scan<K, V> in(KeyRange<K> range) {
    return narrowed(range.from(), range.to());
  }

  /**
   * Narrows the scan to keys that are at least this one.
   *
   * @param key the smallest key
   * @return another scan
   */
  public Scan<K, V> atLeast(K key) {
    return narrowed(table.keyBytes(key), null);
  }

  /**
   * Narrows the scan to keys above this one.
   *
   * @param key the largest key that is not read
   * @return another scan
   */
  public Scan<K, V> greaterThan(K key) {
    return narrowed(behind(table.keyBytes(key)), null);
  }

  /**
   * Narrows the scan to keys that are at most this one.
   *
   * @param key the largest key
   * @return another scan
   */
  public Scan<K, V> atMost(K key) {
    return narrowed(null, behind(table.keyBytes(key)));
  }

  /**
   * Narrows the scan to keys below this one.
   *
   * @param key the smallest key that is not read
   * @return another scan
   */
  public Scan<K, V> lessThan(K key) {
    return narrowed(null, table.keyBytes(key));
  }

  /**
   * Reverses the order: the largest key comes first.
   *
   * @return another scan
   */
  public Scan<K, V> descending() {
    return new Scan<>(table, transaction, from, to, /* isDescending= */ true, limit);
  }

  /**
   * Limits the scan to its first rows.
   *
   * @param rows maximum number of rows, not negative
   * @return another scan
   */
  public Scan<K, V> limit(long rows) {
    if (rows < 0) {
      throw new IllegalArgumentException("a limit must not be negative, but is " + rows);
    }
    return new Scan<>(table, transaction, from, to, isDescending, Math.min(rows, limit));
  }

  private boolean isEmpty() {
    return from != null && to != null && compare(from, to) >= 0;
  }

  /**
   * Opens a cursor before the first row.
   *
   * @return the cursor; close it
   */
  public TypedCursor<K, V> cursor() {
    return table.cursor(transaction, from, to, isDescending, limit);
  }

  /**
   * Returns the rows as a stream. The stream closes itself after the last row. To close it earlier,
   * use {@code try}. It is valid until the transaction ends.
   *
   * @return a sequential stream
   */
  public Stream<Row<K, V>> stream() {
    TypedCursor<K, V> cursor = cursor();
    return StreamSupport.stream(
            new AbstractSpliterator<Row<K, V>>(
                Long.MAX_VALUE,
                Spliterator.ORDERED
                    | Spliterator.DISTINCT
                    | Spliterator.NONNULL
                    | Spliterator.IMMUTABLE) {
              private boolean isOver;

              @Override
              public boolean tryAdvance(Consumer<? super Row<K, V>> action) {
                Row<K, V> row = isOver ? null : cursor.nextRow();
                isOver = row == null;
                if (row != null) {
                  action.accept(row);
                }
                return row != null;
              }
            },
            /* parallel= */ false)
        .onClose(cursor::close);
  }

  /**
   * Reads the first row.
   *
   * @return the row, or null if there is none
   */
  public @Nullable Row<K, V> first() {
    if (isEmpty()) {
      return null;
    }
    try (TypedCursor<K, V> cursor = limit(1).cursor()) {
      return cursor.nextRow();
    }
  }

  /**
   * The number of rows, at most the limit. Reads no values, but those of rows that have expired and
   * are not removed yet. If rows expire, it is not exact in a READ_COMMITTED transaction: expired
   * rows may be removed while it counts.
   *
   * @return the number
   */
  public long count() {
    return isEmpty() ? 0 : Math.min(limit, table.count(transaction, from, to));
  }

  /**
   * Deletes the rows.
   *
   * @return the number of deleted rows
   * @throws IllegalStateException if the scan has a limit
   */
  public long delete() {
    if (limit != Long.MAX_VALUE) {
      throw new IllegalStateException("a scan with a limit cannot delete; use a range");
    }
    return isEmpty() ? 0 : table.deleteRange(transaction, from, to);
  }

  @Override
  public String toString() {
    return "Scan["
        + table.name()
        + ", "
        + new KeyRange<K>(from, to)
        + (isDescending ? ", descending]" : "]");
  }
}
