package org.revenantdb.collections;

import java.util.Arrays;
import java.util.Spliterator;
import java.util.Spliterators.AbstractSpliterator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.index.Maintained;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Transaction;

/**
 * Which entries of an index a transaction is to read, in which order. Immutable.
 *
 * @param <I> type of what is indexed
 * @param <K> type of the keys
 * @param <V> type of the rows
 */
public final class IndexScan<I, K, V> {
  private final Index<I, K, V> index;
  private final Transaction transaction;
  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private final boolean isDescending;
  private final long limit;

  IndexScan(
      Index<I, K, V> index,
      Transaction transaction,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean isDescending,
      long limit) {
    this.index = index;
    this.transaction = transaction;
    this.from = from;
    this.to = to;
    this.isDescending = isDescending;
    this.limit = limit;
  }

  private IndexScan<I, K, V> narrowed(byte @Nullable [] first, byte @Nullable [] end) {
    byte[] low =
        from == null || (first != null && Arrays.compareUnsigned(from, first) < 0) ? first : from;
    byte[] high = to == null || (end != null && Arrays.compareUnsigned(end, to) < 0) ? end : to;
    return new IndexScan<>(index, transaction, low, high, isDescending, limit);
  }

  /**
   * Those that are in a range as well, by the first parts of a tuple.
   *
   * @param range the range
   * @return another scan
   */
  public IndexScan<I, K, V> in(KeyRange<I> range) {
    return narrowed(range.from(), range.to());
  }

  /**
   * Those of one value.
   *
   * @param value the value
   * @return another scan
   */
  public IndexScan<I, K, V> equalTo(I value) {
    byte[] bytes = index.bytes(value);
    return narrowed(bytes, KeyPrefix.behind(bytes));
  }

  /**
   * Those from a value on.
   *
   * @param value the smallest one
   * @return another scan
   */
  public IndexScan<I, K, V> atLeast(I value) {
    return narrowed(index.bytes(value), null);
  }

  /**
   * Those behind a value.
   *
   * @param value the largest value that is not read
   * @return another scan
   */
  public IndexScan<I, K, V> greaterThan(I value) {
    return narrowed(KeyPrefix.behind(index.bytes(value)), null);
  }

  /**
   * Those up to a value.
   *
   * @param value the largest one
   * @return another scan
   */
  public IndexScan<I, K, V> atMost(I value) {
    return narrowed(null, KeyPrefix.behind(index.bytes(value)));
  }

  /**
   * Those before a value.
   *
   * @param value the smallest value that is not read
   * @return another scan
   */
  public IndexScan<I, K, V> lessThan(I value) {
    return narrowed(null, index.bytes(value));
  }

  /**
   * The largest value first.
   *
   * @return another scan
   */
  public IndexScan<I, K, V> descending() {
    return new IndexScan<>(index, transaction, from, to, /* isDescending= */ true, limit);
  }

  /**
   * At most some entries, the first ones.
   *
   * @param entries how many, not negative
   * @return another scan
   */
  public IndexScan<I, K, V> limit(long entries) {
    if (entries < 0) {
      throw new IllegalArgumentException("a limit must not be negative, but is " + entries);
    }
    return new IndexScan<>(index, transaction, from, to, isDescending, Math.min(entries, limit));
  }

  private boolean isEmpty() {
    return from != null && to != null && Arrays.compareUnsigned(from, to) >= 0;
  }

  /**
   * The rows as a stream, in the order of the index. It closes itself behind the last row, and can
   * be closed before. A row that the transaction deletes while it reads the stream may be left out.
   *
   * @return a sequential stream, valid until the transaction ends
   */
  public Stream<Row<K, V>> stream() {
    return stream(key -> index.rows().row(transaction, key));
  }

  /**
   * The keys of the rows. Reads no rows, unless rows of the table expire.
   *
   * @return a sequential stream, as {@link #stream}
   */
  public Stream<K> keys() {
    TypedTable<K, V> rows = index.rows();
    return rows.expires()
        ? stream(key -> rows.row(transaction, key) == null ? null : rows.readKey(key))
        : stream(rows::readKey);
  }

  /** The keys of the rows, with what an entry of a covering index has of each. */
  <C> Stream<Row<K, C>> parts(Function<ByteReader, C> codec) {
    TypedTable<K, V> rows = index.rows();
    boolean expires = rows.expires();
    return entries(cursor -> {
      byte[] key = index.rowKeyOf(cursor);
      return expires && rows.row(transaction, key) == null
          ? null
          : new Row<>(rows.readKey(key), codec.apply(index.maintained().partOf(cursor.value())));
    });
  }

  private <E> Stream<E> stream(Function<byte[], @Nullable E> element) {
    return entries(cursor -> element.apply(index.rowKeyOf(cursor)));
  }

  private <E> Stream<E> entries(Function<Cursor, @Nullable E> element) {
    if (isEmpty()) {
      return Stream.empty();
    }
    Cursor cursor =
        isDescending
            ? transaction.scanDescending(index.entries(), from, to)
            : transaction.scan(index.entries(), from, to);
    return StreamSupport.stream(
            new AbstractSpliterator<E>(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL) {
              private long left = limit;

              @Override
              public boolean tryAdvance(Consumer<? super E> action) {
                while (left > 0 && cursor.next()) {
                  E found = element.apply(cursor);
                  if (found != null) {
                    left--;
                    action.accept(found);
                    return true;
                  }
                }
                left = 0;
                cursor.close();
                return false;
              }
            },
            /* parallel= */ false)
        .onClose(cursor::close);
  }

  /**
   * The first row.
   *
   * @return the row, or null if there is none
   */
  public @Nullable Row<K, V> first() {
    try (Stream<Row<K, V>> rows = limit(1).stream()) {
      return rows.findFirst().orElse(null);
    }
  }

  /**
   * The number of entries, at most the limit. If rows expire, it is not exact in a READ_COMMITTED
   * transaction: expired rows may be removed while it counts.
   *
   * @return the number
   */
  public long count() {
    if (isEmpty()) {
      return 0;
    }
    long entries = transaction.count(index.entries(), from, to);
    long[] expired = {0};
    index
        .rows()
        .forEachExpired(
            transaction,
            (key, row) -> {
              Maintained<V> kept = index.maintained();
              for (byte[] value : kept.of(row)) {
                expired[0] += isIn(kept.entryKey(value, key)) ? 1 : 0;
              }
            });
    return Math.clamp(entries - expired[0], 0, limit);
  }

  private boolean isIn(byte[] entry) {
    return (from == null || Arrays.compareUnsigned(entry, from) >= 0)
        && (to == null || Arrays.compareUnsigned(entry, to) < 0);
  }

  /** The index. */
  Index<I, K, V> index() {
    return index;
  }

  @Override
  public String toString() {
    return "IndexScan[" + index + ", " + new KeyRange<I>(from, to) + "]";
  }
}
