package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.LongDataType;
import org.h2.mvstore.type.StringDataType;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.work.IndexedItem;
import org.revenantdb.jmh.work.IndexedItems;

/**
 * As {@link MvStoreItems}, but without transactions: a {@code put} each. A reader sees a row
 * without its entries, an insert cannot be rolled back, and a crash may leave one half.
 */
public final class MvStoreBareItems implements IndexedItems {
  private final MVStore store;
  private final MVMap<Long, IndexedItem> rows;
  private final MVMap<String, Long> names;
  private final MVMap<MvStoreTypes.Entry, Boolean> numbers;

  /**
   * Creates a store.
   *
   * @param directory an empty one
   * @param cacheBytes of its cache
   */
  public MvStoreBareItems(Path directory, long cacheBytes) {
    store = MvStoreItems.open(directory, cacheBytes);
    rows =
        store.openMap(
            "rows",
            new MVMap.Builder<Long, IndexedItem>()
                .keyType(LongDataType.INSTANCE)
                .valueType(new MvStoreTypes.Items()));
    names =
        store.openMap(
            "names",
            new MVMap.Builder<String, Long>()
                .keyType(StringDataType.INSTANCE)
                .valueType(LongDataType.INSTANCE));
    numbers =
        store.openMap(
            "numbers",
            new MVMap.Builder<MvStoreTypes.Entry, Boolean>()
                .keyType(new MvStoreTypes.Entries())
                .valueType(new MvStoreTypes.NothingMore()));
  }

  @Override
  public void insert(long first, List<IndexedItem> items) {
    for (int i = 0; i < items.size(); i++) {
      IndexedItem item = items.get(i);
      long key = first + i;
      if (rows.putIfAbsent(key, item) != null || names.putIfAbsent(item.name(), key) != null) {
        throw new IllegalStateException("there is a row " + key + " or " + item.name());
      }
      Boolean _ = numbers.put(new MvStoreTypes.Entry(item.number(), key), Boolean.TRUE);
    }
  }

  @Override
  public @Nullable IndexedItem named(String name) {
    Long key = names.get(name);
    return key == null ? null : rows.get(key);
  }

  @Override
  public List<Long> numbered(int number) {
    List<Long> keys = new ArrayList<>();
    Iterator<MvStoreTypes.Entry> entries =
        numbers.keyIterator(new MvStoreTypes.Entry(number, Long.MIN_VALUE));
    while (entries.hasNext()) {
      MvStoreTypes.Entry entry = entries.next();
      if (entry.number() != number) {
        break;
      }
      keys.add(entry.key());
    }
    return keys;
  }

  @Override
  public Counts counts() {
    return new Counts(rows.sizeAsLong(), names.sizeAsLong(), numbers.sizeAsLong());
  }

  @Override
  public void close() {
    store.close();
  }
}
