package org.revenantdb.collections.map;

import java.util.AbstractSet;
import java.util.Comparator;
import java.util.Iterator;
import java.util.NavigableSet;
import java.util.Spliterator;
import java.util.Spliterators;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.Row;

/**
 * The keys of a map.
 *
 * @param <K> type of the keys
 */
final class MapKeys<K> extends AbstractSet<K> implements NavigableSet<K> {
  private final TableMap<K, ?> map;

  MapKeys(TableMap<K, ?> map) {
    this.map = map;
  }

  @Override
  public Iterator<K> iterator() {
    return map.iterator(Row::key, /* isReversed= */ false);
  }

  @Override
  public Iterator<K> descendingIterator() {
    return map.iterator(Row::key, /* isReversed= */ true);
  }

  @Override
  public Spliterator<K> spliterator() {
    return new Spliterators.AbstractSpliterator<K>(
        Long.MAX_VALUE,
        Spliterator.CONCURRENT
            | Spliterator.ORDERED
            | Spliterator.SORTED
            | Spliterator.DISTINCT
            | Spliterator.NONNULL) {
      private final Iterator<K> keys = iterator();

      @Override
      public boolean tryAdvance(java.util.function.Consumer<? super K> action) {
        boolean hasNext = keys.hasNext();
        if (hasNext) {
          action.accept(keys.next());
        }
        return hasNext;
      }

      @Override
      public Comparator<? super K> getComparator() {
        return map.comparator();
      }
    };
  }

  @Override
  public int size() {
    return map.size();
  }

  @Override
  public boolean isEmpty() {
    return map.isEmpty();
  }

  @Override
  public boolean contains(@Nullable Object key) {
    return map.containsKey(key);
  }

  @Override
  public boolean remove(@Nullable Object key) {
    return map.remove(key) != null;
  }

  @Override
  public void clear() {
    map.clear();
  }

  @Override
  public Comparator<? super K> comparator() {
    return map.comparator();
  }

  @Override
  public K first() {
    return map.firstKey();
  }

  @Override
  public K last() {
    return map.lastKey();
  }

  @Override
  public @Nullable K lower(K key) {
    return map.lowerKey(key);
  }

  @Override
  public @Nullable K floor(K key) {
    return map.floorKey(key);
  }

  @Override
  public @Nullable K ceiling(K key) {
    return map.ceilingKey(key);
  }

  @Override
  public @Nullable K higher(K key) {
    return map.higherKey(key);
  }

  @Override
  public @Nullable K pollFirst() {
    var entry = map.pollFirstEntry();
    return entry == null ? null : entry.getKey();
  }

  @Override
  public @Nullable K pollLast() {
    var entry = map.pollLastEntry();
    return entry == null ? null : entry.getKey();
  }

  @Override
  public NavigableSet<K> descendingSet() {
    return map.descendingKeySet();
  }

  @Override
  public NavigableSet<K> subSet(K from, boolean hasFrom, K to, boolean hasTo) {
    return map.subMap(from, hasFrom, to, hasTo).navigableKeySet();
  }

  @Override
  public NavigableSet<K> headSet(K to, boolean hasTo) {
    return map.headMap(to, hasTo).navigableKeySet();
  }

  @Override
  public NavigableSet<K> tailSet(K from, boolean hasFrom) {
    return map.tailMap(from, hasFrom).navigableKeySet();
  }

  @Override
  public NavigableSet<K> subSet(K from, K to) {
    return subSet(from, true, to, false);
  }

  @Override
  public NavigableSet<K> headSet(K to) {
    return headSet(to, false);
  }

  @Override
  public NavigableSet<K> tailSet(K from) {
    return tailSet(from, true);
  }
}
