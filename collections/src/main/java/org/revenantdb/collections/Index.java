package org.revenantdb.collections;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.index.IndexCatalog;
import org.revenantdb.collections.index.Maintained;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * A secondary index: the rows of a table, ordered by values that a function computes from each row.
 * {@link TypedTable#index} returns it. Thread-safe.
 *
 * {@snippet :
 * Index<String, Long, Customer> byCity = customers.index("by city", Index.of(Keys.strings(), Customer::city));
 * try (Stream<Row<Long, Customer>> rows = byCity.scan(tx).equalTo("London").stream()) { ... }
 * }
 *
 * <p>The transaction that writes a row also changes its index entries. So a transaction reads the
 * same rows through an index as from the table.
 *
 * @param <I> type of what is indexed
 * @param <K> type of the keys
 * @param <V> type of the rows
 */
public final class Index<I, K, V> {
  private final TypedTable<K, V> rows;
  private final Maintained<V> index;
  private final KeyCodec<I> codec;
  private final Table catalog;

  Index(TypedTable<K, V> rows, Maintained<V> index, KeyCodec<I> codec, Table catalog) {
    this.rows = rows;
    this.index = index;
    this.codec = codec;
    this.catalog = catalog;
  }

  /**
   * An index in which each row has one entry at most.
   *
   * @param codec of what is indexed; a tuple makes ranges by its first parts
   * @param value what is indexed of a row; null for no entry
   * @param <I> type of what is indexed
   * @param <V> type of the rows
   * @return a definition
   */
  public static <I, V> IndexDefinition<I, V> of(
      KeyCodec<I> codec, Function<? super V, ? extends @Nullable I> value) {
    return IndexDefinition.of(codec, /* isUnique= */ false, single(value));
  }

  /**
   * An index in which no two rows have the same entry.
   *
   * @param codec of what is indexed
   * @param value what is indexed of a row; null for no entry
   * @param <I> type of what is indexed
   * @param <V> type of the rows
   * @return a definition
   */
  public static <I, V> IndexDefinition<I, V> unique(
      KeyCodec<I> codec, Function<? super V, ? extends @Nullable I> value) {
    return IndexDefinition.of(codec, /* isUnique= */ true, single(value));
  }

  /**
   * An index in which a row has any number of entries.
   *
   * @param codec of what is indexed
   * @param values what is indexed of a row; each counts once
   * @param <I> type of what is indexed
   * @param <V> type of the rows
   * @return a definition
   */
  public static <I, V> IndexDefinition<I, V> multi(
      KeyCodec<I> codec, Function<? super V, ? extends Collection<I>> values) {
    return IndexDefinition.of(codec, /* isUnique= */ false, values);
  }

  private static <I, V> Function<V, Collection<I>> single(
      Function<? super V, ? extends @Nullable I> value) {
    Objects.requireNonNull(value, "value must not be null");
    return row -> {
      I found = value.apply(row);
      return found == null ? List.of() : List.of(found);
    };
  }

  /**
   * The name of the index.
   *
   * @return the name
   */
  public String name() {
    return index.name();
  }

  /**
   * The first row with an entry: in a unique index the only one.
   *
   * @param transaction which reads
   * @param value what is indexed
   * @return the row, or null if there is none
   */
  public @Nullable Row<K, V> get(Transaction transaction, I value) {
    return scan(transaction).equalTo(value).first();
  }

  /**
   * All rows that have an entry, in the order of the entries, then of the keys. {@link IndexScan}
   * narrows that.
   *
   * @param transaction which reads
   * @return a scan
   * @throws IllegalStateException if the transaction began before the index was complete
   */
  public IndexScan<I, K, V> scan(Transaction transaction) {
    demandComplete(transaction);
    return new IndexScan<>(this, transaction, null, null, false, Long.MAX_VALUE);
  }

  private void demandComplete(Transaction transaction) {
    IndexCatalog.Stored stored = IndexCatalog.find(transaction, catalog, rows.name(), index.name());
    if (stored == null || !stored.isComplete()) {
      throw new IllegalStateException(
          "table "
              + rows.name()
              + ": index "
              + name()
              + (stored == null ? " was dropped" : " was not complete when the transaction began")
              + "; begin another transaction, or declare it again");
    }
  }

  /**
   * Compares all rows with all entries. {@link TypedTable#check} does so for all indexes of a
   * table.
   *
   * @param transaction which reads
   * @return the differences, at most a hundred; empty if the index is correct
   * @throws IllegalStateException if the transaction began before the index was complete
   */
  public List<String> check(Transaction transaction) {
    demandComplete(transaction);
    return IndexCheck.of(rows, index, transaction);
  }

  /** The table whose rows these are. */
  TypedTable<K, V> rows() {
    return rows;
  }

  /** What the index has of a row. */
  Maintained<V> maintained() {
    return index;
  }

  /** The table of the entries. */
  Table entries() {
    return index.entries();
  }

  /** The bytes of the row key in an entry. */
  byte[] rowKeyOf(Cursor entry) {
    return index.rowKeyOf(entry.key(), entry.value());
  }

  byte[] bytes(I value) {
    Objects.requireNonNull(value, "value must not be null");
    return codec.toBytes(value);
  }

  @Override
  public String toString() {
    return "Index[" + rows.name() + ", " + name() + "]";
  }
}
