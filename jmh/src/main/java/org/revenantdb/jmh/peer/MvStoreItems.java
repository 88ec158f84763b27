package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.tx.Transaction;
import org.h2.mvstore.tx.TransactionMap;
import org.h2.mvstore.tx.TransactionStore;
import org.h2.mvstore.type.LongDataType;
import org.h2.mvstore.type.StringDataType;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.work.IndexedItem;
import org.revenantdb.jmh.work.IndexedItems;

/**
 * The MVStore of H2: three maps kept by hand, in transactions of its {@code TransactionStore}: a
 * row and its entries are visible together, can be rolled back, and are there together after a
 * crash. The store commits once a second by its own thread, so the kill of the process loses a
 * second, and a power cut more, because the store is not forced.
 */
public final class MvStoreItems implements IndexedItems {
  private static final int MIB = 20;
  private static final int BUFFER_KIB = 128 << 10;

  private final MVStore store;
  private final TransactionStore transactions;

  // Each transaction has a view of its own of these.
  private final TransactionMap<Long, IndexedItem> rows;
  private final TransactionMap<String, Long> names;
  private final TransactionMap<MvStoreTypes.Entry, Boolean> numbers;

  /**
   * Creates a store.
   *
   * @param directory an empty one
   * @param cacheBytes of its cache
   */
  public MvStoreItems(Path directory, long cacheBytes) {
    store = open(directory, cacheBytes);
    transactions = new TransactionStore(store);
    transactions.init();
    Transaction first = transactions.begin();
    rows = first.openMap("rows", LongDataType.INSTANCE, new MvStoreTypes.Items());
    names = first.openMap("names", StringDataType.INSTANCE, LongDataType.INSTANCE);
    numbers = first.openMap("numbers", new MvStoreTypes.Entries(), new MvStoreTypes.NothingMore());
    first.commit();
  }

  /**
   * A store that writes what has changed once a second, not each time that there are a few
   * megabytes of it: random entries change the same pages again and again.
   */
  static MVStore open(Path directory, long cacheBytes) {
    return new MVStore.Builder()
        .fileName(directory.resolve("items.mv").toString())
        .cacheSize(Math.toIntExact(Math.max(1, cacheBytes >> MIB)))
        .autoCommitBufferSize(BUFFER_KIB)
        .open();
  }

  @Override
  public void insert(long first, List<IndexedItem> items) {
    Transaction transaction = transactions.begin();
    try {
      TransactionMap<Long, IndexedItem> ownRows = rows.getInstance(transaction);
      TransactionMap<String, Long> ownNames = names.getInstance(transaction);
      TransactionMap<MvStoreTypes.Entry, Boolean> ownNumbers = numbers.getInstance(transaction);
      for (int i = 0; i < items.size(); i++) {
        IndexedItem item = items.get(i);
        long key = first + i;
        if (ownRows.putIfAbsent(key, item) != null
            || ownNames.putIfAbsent(item.name(), key) != null) {
          throw new IllegalStateException("there is a row " + key + " or " + item.name());
        }
        Boolean _ = ownNumbers.put(new MvStoreTypes.Entry(item.number(), key), Boolean.TRUE);
      }
      transaction.commit();
    } catch (Throwable thrown) {
      transaction.rollback();
      throw thrown;
    }
  }

  @Override
  public @Nullable IndexedItem named(String name) {
    Transaction transaction = transactions.begin();
    try {
      Long key = names.getInstance(transaction).get(name);
      return key == null
          ? null
          : Objects.requireNonNull(rows.getInstance(transaction).get(key), name);
    } finally {
      transaction.commit();
    }
  }

  @Override
  public List<Long> numbered(int number) {
    Transaction transaction = transactions.begin();
    try {
      Iterator<MvStoreTypes.Entry> entries =
          numbers
              .getInstance(transaction)
              .keyIterator(
                  new MvStoreTypes.Entry(number, Long.MIN_VALUE),
                  new MvStoreTypes.Entry(number, Long.MAX_VALUE));
      List<Long> keys = new ArrayList<>();
      entries.forEachRemaining(entry -> keys.add(entry.key()));
      return keys;
    } finally {
      transaction.commit();
    }
  }

  @Override
  public Counts counts() {
    Transaction transaction = transactions.begin();
    try {
      return new Counts(
          rows.getInstance(transaction).sizeAsLong(),
          names.getInstance(transaction).sizeAsLong(),
          numbers.getInstance(transaction).sizeAsLong());
    } finally {
      transaction.commit();
    }
  }

  @Override
  public void close() {
    transactions.close();
    store.close();
  }
}
