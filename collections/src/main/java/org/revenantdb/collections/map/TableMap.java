package org.revenantdb.collections.map;

import java.util.AbstractCollection;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.CodecException;
import org.revenantdb.collections.Row;
import org.revenantdb.collections.Scan;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionCall;

/**
 * A table, or a range of it, in one direction or the other, as a map. A call is one transaction or
 * one statement of one ({@link MapWork}); so each is atomic.
 *
 * <p>It uses nothing of the table but its public methods.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public final class TableMap<K, V> extends AbstractMap<K, V>
    implements ConcurrentNavigableMap<K, V> {
  private final TypedTable<K, V> table;
  private final MapWork work;
  private final Bounds<K> bounds;
  private final boolean isDescending;

  /** A whole table. */
  public TableMap(TypedTable<K, V> table, MapWork work) {
    this(
        table,
        work,
        new Bounds<>(table.keys().comparator(), null, false, null, false),
        /* isDescending= */ false);
  }

  private TableMap(TypedTable<K, V> table, MapWork work, Bounds<K> bounds, boolean isDescending) {
    this.table = table;
    this.work = work;
    this.bounds = bounds;
    this.isDescending = isDescending;
  }

  // ------------------------------------------------------------------------------- calls

  /** A key of the right type, if the caller passes one; otherwise the codec throws. */
  @SuppressWarnings("unchecked")
  private K key(@Nullable Object key) {
    return (K) Objects.requireNonNull(key, "key must not be null");
  }

  private <T extends @Nullable Object> T read(TransactionCall<T> call) {
    try {
      return work.read(call);
    } catch (CodecException failure) {
      throw told(failure);
    }
  }

  private <T extends @Nullable Object> T write(TransactionCall<T> call) {
    try {
      return work.write(call);
    } catch (CodecException failure) {
      throw told(failure);
    }
  }

  /** A map says that a key or value is of a wrong type, not that the codec has found it out. */
  private static RuntimeException told(CodecException failure) {
    return failure.getCause() instanceof ClassCastException wrong ? wrong : failure;
  }

  private boolean isMine(K key) {
    if (bounds.isWhole()) {
      return true;
    }
    return bounds.contains(key);
  }

  private K demandMine(K key) {
    if (!isMine(Objects.requireNonNull(key, "key must not be null"))) {
      throw new IllegalArgumentException("key out of range: " + key + " is not of this map");
    }
    return key;
  }

  /** The rows, in the order of this map or in reverse. */
  private Scan<K, V> rows(Transaction transaction, boolean isReversed) {
    Scan<K, V> scan = bounds.of(table.scan(transaction));
    return isDescending == isReversed ? scan : scan.descending();
  }

  // ------------------------------------------------------------------------------- one row

  @Override
  public @Nullable V get(@Nullable Object key) {
    K wanted = key(key);
    return read(tx -> isMine(wanted) ? table.get(tx, wanted) : null);
  }

  @Override
  public V getOrDefault(@Nullable Object key, V other) {
    V found = get(key);
    return found == null ? other : found;
  }

  @Override
  public boolean containsKey(@Nullable Object key) {
    K wanted = key(key);
    return read(tx -> isMine(wanted) && table.contains(tx, wanted));
  }

  @Override
  public @Nullable V put(K key, V value) {
    Objects.requireNonNull(value, "value must not be null");
    demandMine(key);
    return write(tx -> {
      V before = table.get(tx, key);
      table.put(tx, key, value);
      return before;
    });
  }

  @Override
  public @Nullable V putIfAbsent(K key, V value) {
    Objects.requireNonNull(value, "value must not be null");
    demandMine(key);
    return write(tx -> table.putIfAbsent(tx, key, value));
  }

  @Override
  public @Nullable V remove(@Nullable Object key) {
    K wanted = key(key);
    return write(tx -> isMine(wanted) ? table.remove(tx, wanted) : null);
  }

  @Override
  public boolean remove(@Nullable Object key, @Nullable Object value) {
    K wanted = key(key);
    return value != null && write(tx -> isMine(wanted) && table.remove(tx, wanted, value));
  }

  @Override
  public @Nullable V replace(K key, V value) {
    Objects.requireNonNull(value, "value must not be null");
    K wanted = key(key);
    return write(tx -> isMine(wanted) ? table.replace(tx, wanted, value) : null);
  }

  @Override
  public boolean replace(K key, V before, V value) {
    Objects.requireNonNull(before, "before must not be null");
    Objects.requireNonNull(value, "value must not be null");
    K wanted = key(key);
    return write(tx -> isMine(wanted) && table.replace(tx, wanted, before, value));
  }

  @Override
  public @Nullable V compute(
      K key, BiFunction<? super K, ? super @Nullable V, ? extends @Nullable V> change) {
    Objects.requireNonNull(change, "change must not be null");
    demandMine(key);
    return write(tx -> table.compute(tx, key, change));
  }

  @Override
  public @Nullable V computeIfAbsent(K key, Function<? super K, ? extends @Nullable V> value) {
    Objects.requireNonNull(value, "value must not be null");
    demandMine(key);
    V found = read(tx -> table.get(tx, key)); // mostly it is there: no need to write
    return found != null
        ? found
        : write(tx ->
            table.compute(tx, key, (it, before) -> before == null ? value.apply(it) : before));
  }

  @Override
  public @Nullable V computeIfPresent(
      K key, BiFunction<? super K, ? super V, ? extends @Nullable V> change) {
    Objects.requireNonNull(change, "change must not be null");
    K wanted = key(key);
    return write(tx ->
        isMine(wanted)
            ? table.compute(
                tx, wanted, (it, before) -> before == null ? null : change.apply(it, before))
            : null);
  }

  @Override
  public @Nullable V merge(
      K key, V value, BiFunction<? super V, ? super V, ? extends @Nullable V> merge) {
    Objects.requireNonNull(value, "value must not be null");
    Objects.requireNonNull(merge, "merge must not be null");
    demandMine(key);
    return write(tx -> table.merge(tx, key, value, merge));
  }

  // ------------------------------------------------------------------------------- all rows

  @Override
  public int size() {
    long count = read(tx -> rows(tx, false).count());
    return (int) Math.min(Integer.MAX_VALUE, count);
  }

  @Override
  public boolean isEmpty() {
    return first(/* isReversed= */ false) == null;
  }

  @Override
  public void clear() {
    write(tx -> rows(tx, false).delete());
  }

  @Override
  public void forEach(BiConsumer<? super K, ? super V> action) {
    Objects.requireNonNull(action, "action must not be null");
    MapRows<K, V, Row<K, V>> rows = iterator(row -> row, /* isReversed= */ false);
    while (rows.hasNext()) {
      Row<K, V> row = rows.next();
      action.accept(row.key(), row.value());
    }
  }

  @Override
  public void replaceAll(BiFunction<? super K, ? super V, ? extends V> change) {
    Objects.requireNonNull(change, "change must not be null");
    forEach((key, _) ->
        computeIfPresent(
            key, (it, before) -> Objects.requireNonNull(change.apply(it, before), "value")));
  }

  // ------------------------------------------------------------------------------- navigation

  private @Nullable Row<K, V> first(boolean isReversed) {
    return read(tx -> rows(tx, isReversed).first());
  }

  private @Nullable Entry<K, V> poll(boolean isReversed) {
    return entry(
        write(tx -> {
          Row<K, V> row = rows(tx, isReversed).first();
          if (row != null) {
            boolean _ = table.delete(tx, row.key());
          }
          return row;
        }));
  }

  /** The row that is next to a key, in the order of this map or in reverse. */
  private @Nullable Row<K, V> near(K key, boolean isReversed, boolean isOrEqual) {
    Objects.requireNonNull(key, "key must not be null");
    return read(tx -> near(rows(tx, isReversed), key, isReversed, isOrEqual).first());
  }

  private Scan<K, V> near(Scan<K, V> scan, K key, boolean isReversed, boolean isOrEqual) {
    if (isDescending == isReversed) {
      return isOrEqual ? scan.atLeast(key) : scan.greaterThan(key);
    }
    return isOrEqual ? scan.atMost(key) : scan.lessThan(key);
  }

  /** Up to some rows, those behind a key, or the first ones. */
  Row<K, V>[] batch(@Nullable K behind, boolean isReversed, int count) {
    return read(tx -> {
      Scan<K, V> scan = rows(tx, isReversed);
      if (behind != null) {
        scan = near(scan, behind, isReversed, /* isOrEqual= */ false);
      }
      try (var rows = scan.limit(count).stream()) {
        return rows.toArray(TableMap::<K, V>newRows);
      }
    });
  }

  @SuppressWarnings("unchecked") // an array of rows of any kind
  private static <K, V> Row<K, V>[] newRows(int count) {
    return (Row<K, V>[]) new Row<?, ?>[count];
  }

  private static <K, V> @Nullable Entry<K, V> entry(@Nullable Row<K, V> row) {
    return row == null ? null : new SimpleImmutableEntry<>(row.key(), row.value());
  }

  private static <K> @Nullable K keyOf(@Nullable Row<K, ?> row) {
    return row == null ? null : row.key();
  }

  private static <K> K present(@Nullable Row<K, ?> row) {
    if (row == null) {
      throw new NoSuchElementException("the map is empty");
    }
    return row.key();
  }

  @Override
  public @Nullable Entry<K, V> lowerEntry(K key) {
    return entry(near(key, /* isReversed= */ true, /* isOrEqual= */ false));
  }

  @Override
  public @Nullable K lowerKey(K key) {
    return keyOf(near(key, /* isReversed= */ true, /* isOrEqual= */ false));
  }

  @Override
  public @Nullable Entry<K, V> floorEntry(K key) {
    return entry(near(key, /* isReversed= */ true, /* isOrEqual= */ true));
  }

  @Override
  public @Nullable K floorKey(K key) {
    return keyOf(near(key, /* isReversed= */ true, /* isOrEqual= */ true));
  }

  @Override
  public @Nullable Entry<K, V> ceilingEntry(K key) {
    return entry(near(key, /* isReversed= */ false, /* isOrEqual= */ true));
  }

  @Override
  public @Nullable K ceilingKey(K key) {
    return keyOf(near(key, /* isReversed= */ false, /* isOrEqual= */ true));
  }

  @Override
  public @Nullable Entry<K, V> higherEntry(K key) {
    return entry(near(key, /* isReversed= */ false, /* isOrEqual= */ false));
  }

  @Override
  public @Nullable K higherKey(K key) {
    return keyOf(near(key, /* isReversed= */ false, /* isOrEqual= */ false));
  }

  @Override
  public @Nullable Entry<K, V> firstEntry() {
    return entry(first(/* isReversed= */ false));
  }

  @Override
  public @Nullable Entry<K, V> lastEntry() {
    return entry(first(/* isReversed= */ true));
  }

  @Override
  public @Nullable Entry<K, V> pollFirstEntry() {
    return poll(/* isReversed= */ false);
  }

  @Override
  public @Nullable Entry<K, V> pollLastEntry() {
    return poll(/* isReversed= */ true);
  }

  @Override
  public K firstKey() {
    return present(first(/* isReversed= */ false));
  }

  @Override
  public K lastKey() {
    return present(first(/* isReversed= */ true));
  }

  // ------------------------------------------------------------------------------- views

  @Override
  public Comparator<? super K> comparator() {
    return isDescending ? bounds.order().reversed() : bounds.order();
  }

  @Override
  public ConcurrentNavigableMap<K, V> descendingMap() {
    return new TableMap<>(table, work, bounds, !isDescending);
  }

  @Override
  public ConcurrentNavigableMap<K, V> subMap(K from, boolean hasFrom, K to, boolean hasTo) {
    Objects.requireNonNull(from, "from must not be null");
    Objects.requireNonNull(to, "to must not be null");
    return part(from, hasFrom, to, hasTo);
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to, boolean hasTo) {
    Objects.requireNonNull(to, "to must not be null");
    return part(null, false, to, hasTo);
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from, boolean hasFrom) {
    Objects.requireNonNull(from, "from must not be null");
    return part(from, hasFrom, null, false);
  }

  private TableMap<K, V> part(@Nullable K from, boolean hasFrom, @Nullable K to, boolean hasTo) {
    return new TableMap<>(
        table,
        work,
        isDescending
            ? bounds.part(to, hasTo, from, hasFrom)
            : bounds.part(from, hasFrom, to, hasTo),
        isDescending);
  }

  @Override
  public ConcurrentNavigableMap<K, V> subMap(K from, K to) {
    return subMap(from, true, to, false);
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to) {
    return headMap(to, false);
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from) {
    return tailMap(from, true);
  }

  @Override
  public NavigableSet<K> navigableKeySet() {
    return new MapKeys<>(this);
  }

  @Override
  public NavigableSet<K> keySet() {
    return navigableKeySet();
  }

  @Override
  public NavigableSet<K> descendingKeySet() {
    return new MapKeys<>((TableMap<K, V>) descendingMap());
  }

  <E> MapRows<K, V, E> iterator(Function<Row<K, V>, E> element, boolean isReversed) {
    return new MapRows<>(this, element, isReversed);
  }

  @Override
  public Collection<V> values() {
    return new AbstractCollection<V>() {
      @Override
      public Iterator<V> iterator() {
        return TableMap.this.iterator(Row::value, /* isReversed= */ false);
      }

      @Override
      public int size() {
        return TableMap.this.size();
      }

      @Override
      public boolean isEmpty() {
        return TableMap.this.isEmpty();
      }

      @Override
      public void clear() {
        TableMap.this.clear();
      }

      @Override
      public Spliterator<V> spliterator() {
        return Spliterators.spliteratorUnknownSize(
            iterator(), Spliterator.CONCURRENT | Spliterator.ORDERED | Spliterator.NONNULL);
      }
    };
  }

  @Override
  public Set<Map.Entry<K, V>> entrySet() {
    return new AbstractSet<Map.Entry<K, V>>() {
      @Override
      public Iterator<Map.Entry<K, V>> iterator() {
        return TableMap.this.iterator(Mapping::new, /* isReversed= */ false);
      }

      @Override
      public boolean contains(@Nullable Object object) {
        return object instanceof Map.Entry<?, ?> entry
            && entry.getKey() != null
            && entry.getValue() != null
            && entry.getValue().equals(get(entry.getKey()));
      }

      @Override
      public boolean remove(@Nullable Object object) {
        return object instanceof Map.Entry<?, ?> entry
            && entry.getKey() != null
            && TableMap.this.remove(entry.getKey(), entry.getValue());
      }

      @Override
      public int size() {
        return TableMap.this.size();
      }

      @Override
      public boolean isEmpty() {
        return TableMap.this.isEmpty();
      }

      @Override
      public void clear() {
        TableMap.this.clear();
      }

      @Override
      public Spliterator<Map.Entry<K, V>> spliterator() {
        return Spliterators.spliteratorUnknownSize(
            iterator(),
            Spliterator.CONCURRENT
                | Spliterator.ORDERED
                | Spliterator.DISTINCT
                | Spliterator.NONNULL);
      }
    };
  }

  /** An entry of an iterator: a snapshot of the row, and its user can replace the value. */
  private final class Mapping extends SimpleEntry<K, V> {
    private static final long serialVersionUID = 1L;

    Mapping(Row<K, V> row) {
      super(row.key(), row.value());
    }

    @Override
    public V setValue(V value) {
      V _ = put(getKey(), value);
      return super.setValue(value);
    }
  }
}
