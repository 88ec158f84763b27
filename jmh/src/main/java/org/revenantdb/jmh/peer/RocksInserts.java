package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.revenantdb.jmh.insert.InsertStore;
import org.revenantdb.jmh.insert.RowNumbers;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;

/** RocksDB: a {@code put} each, its log written, and forced if the insert is to be durable. */
public final class RocksInserts implements InsertStore {
  private final LRUCache cache;
  private final Options options;
  private final WriteOptions write;
  private final RocksDB database;
  private final AtomicLong numbers = new AtomicLong();

  static {
    RocksDB.loadLibrary();
  }

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param durable whether each insert is forced
   * @param cacheBytes of its block cache
   * @throws RocksDBException if it cannot
   */
  public RocksInserts(Path directory, boolean durable, long cacheBytes) throws RocksDBException {
    cache = new LRUCache(cacheBytes);
    options =
        new Options()
            .setCreateIfMissing(true)
            .setTableFormatConfig(new BlockBasedTableConfig().setBlockCache(cache));
    write = new WriteOptions().setSync(durable);
    database = RocksDB.open(options, directory.toString());
  }

  @Override
  public void insert(byte[] value) throws RocksDBException {
    database.put(write, RowNumbers.key(numbers.getAndIncrement()), value);
  }

  @Override
  public long rows() {
    long rows = 0;
    try (RocksIterator iterator = database.newIterator()) {
      for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
        rows++;
      }
    }
    return rows;
  }

  @Override
  public void close() {
    database.close();
    write.close();
    options.close();
    cache.close();
  }
}
