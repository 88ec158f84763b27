package org.revenantdb.collections.map;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.Row;

/**
 * An iterator of a map: it reads some rows, and when they are used up the next ones behind them,
 * ever more at once. So it holds nothing open.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 * @param <E> what it returns
 */
final class MapRows<K, V, E> implements Iterator<E> {
  private static final int FIRST = 8;
  private static final int MOST = 512;

  private final TableMap<K, V> map;
  private final Function<Row<K, V>, E> element;
  private final boolean isReversed;
  private Row<K, V>[] batch;
  private int asked = FIRST;
  private int at;
  private @Nullable Row<K, V> returned;

  MapRows(TableMap<K, V> map, Function<Row<K, V>, E> element, boolean isReversed) {
    this.map = map;
    this.element = element;
    this.isReversed = isReversed;
    this.batch = map.batch(null, isReversed, asked);
  }

  @Override
  public boolean hasNext() {
    if (at == batch.length && batch.length == asked) { // else there were no more
      K last = batch[at - 1].key();
      asked = Math.min(MOST, 4 * asked);
      batch = map.batch(last, isReversed, asked);
      at = 0;
    }
    return at < batch.length;
  }

  @Override
  public E next() {
    if (!hasNext()) {
      throw new NoSuchElementException("there is no further row");
    }
    Row<K, V> row = batch[at++];
    returned = row;
    return element.apply(row);
  }

  @Override
  public void remove() {
    Row<K, V> row = returned;
    if (row == null) {
      throw new IllegalStateException("there is no row to remove; call next first");
    }
    returned = null;
    V _ = map.remove(row.key());
  }
}
