package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.revenantdb.jmh.insert.InsertStore;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * The MVStore of H2: a {@code put} each; its own thread commits once a second. For durability each
 * insert would have to commit and force the whole store, so this is not requested.
 */
public final class MvStoreInserts implements InsertStore {
  private final MVStore store;
  private final MVMap<byte[], byte[]> rows;
  private final AtomicLong numbers = new AtomicLong();

  /**
   * Creates a store.
   *
   * @param directory an empty one
   * @param durable must be false
   * @param cacheBytes of its cache
   */
  public MvStoreInserts(Path directory, boolean durable, long cacheBytes) {
    if (durable) {
      throw new IllegalArgumentException("an MVStore has no durable put");
    }
    store = MvStoreTree.open(directory, cacheBytes);
    rows = MvStoreTree.rows(store);
  }

  @Override
  public void insert(byte[] value) {
    rows.put(RowNumbers.key(numbers.getAndIncrement()), value.clone());
  }

  @Override
  public long rows() {
    return rows.sizeAsLong();
  }

  @Override
  public void close() {
    store.close();
  }
}
