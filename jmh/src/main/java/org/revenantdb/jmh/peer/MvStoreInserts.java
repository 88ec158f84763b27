package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;
import org.revenantdb.jmh.insert.InsertStore;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * The MVStore of H2: a {@code put} each; a thread of its own commits once a second. To be durable
 * each insert would have to commit and force the whole store: it is not asked for that.
 */
public final class MvStoreInserts implements InsertStore {
  private static final int MIB = 20;

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
    store =
        new MVStore.Builder()
            .fileName(directory.resolve("rows.mv").toString())
            .cacheSize(Math.toIntExact(Math.max(1, cacheBytes >> MIB)))
            .open();
    rows =
        store.openMap(
            "rows",
            new MVMap.Builder<byte[], byte[]>()
                .keyType(ByteArrayDataType.INSTANCE)
                .valueType(ByteArrayDataType.INSTANCE));
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
