package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.tree.TreeRows;
import org.revenantdb.jmh.tree.TreeStore;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Snapshot;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB: a block cache of the requested size, bloom filters of ten bits as its guide advises for
 * point reads, and no compression, because the values are noise. A single read is a {@code get},
 * many are on a snapshot; both copy into the caller's array.
 *
 * <p>A lazy commit is a write to its log without {@code sync}: the kill of the process loses
 * nothing, a power cut loses what the system had not written.
 */
public final class RocksTree implements TreeStore {
  private static final int BLOOM_BITS = 10;

  private final LRUCache cache;
  private final BloomFilter bloom = new BloomFilter(BLOOM_BITS);
  private final Options options;
  private final WriteOptions lazy = new WriteOptions();
  private final RocksDB database;
  private final List<Own> sessions = new CopyOnWriteArrayList<>();

  static {
    RocksDB.loadLibrary();
  }

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param cacheBytes of the block cache
   * @throws RocksDBException if it cannot
   */
  public RocksTree(Path directory, long cacheBytes) throws RocksDBException {
    cache = new LRUCache(cacheBytes);
    options =
        new Options()
            .setCreateIfMissing(true)
            .setCompressionType(CompressionType.NO_COMPRESSION)
            .setTableFormatConfig(
                new BlockBasedTableConfig().setBlockCache(cache).setFilterPolicy(bloom));
    database = RocksDB.open(options, directory.toString());
  }

  /** Its tree is in order, and nothing runs in the background during the reads. */
  @Override
  public void settle() throws RocksDBException {
    database.compactRange();
  }

  @Override
  public Session session() {
    Own session = new Own();
    sessions.add(session);
    return session;
  }

  @Override
  public void close() {
    sessions.forEach(Own::close);
    database.close();
    lazy.close();
    options.close();
    bloom.close();
    cache.close();
  }

  private final class Own implements Session {
    private final ReadOptions usual = new ReadOptions();
    private final byte[] into = new byte[TreeRows.VALUE];
    private @Nullable Snapshot snapshot;

    @Override
    public void begin() {
      Snapshot taken = database.getSnapshot();
      usual.setSnapshot(taken);
      snapshot = taken;
    }

    @Override
    public long read(byte[] key) throws RocksDBException {
      if (database.get(usual, key, into) != into.length) {
        throw new IllegalStateException("a row is not there");
      }
      return TreeRows.sum(into);
    }

    @Override
    public void end() {
      if (snapshot != null) {
        usual.setSnapshot(null);
        database.releaseSnapshot(snapshot);
        snapshot = null;
      }
    }

    @Override
    public long scan(byte[] from, int count) {
      long sum = 0;
      try (RocksIterator iterator = database.newIterator(usual)) {
        iterator.seek(from);
        for (int i = 0; i < count && iterator.isValid(); i++) {
          iterator.value(into);
          sum += TreeRows.sum(into);
          iterator.next();
        }
      }
      return sum;
    }

    @Override
    public void update(byte[] key, byte[] value) throws RocksDBException {
      database.put(lazy, key, value);
    }

    @Override
    public void load(long first, int count) throws RocksDBException {
      byte[] key = new byte[TreeRows.KEY];
      byte[] value = new byte[TreeRows.VALUE];
      try (WriteBatch batch = new WriteBatch()) {
        for (long row = first; row < first + count; row++) {
          TreeRows.key(row, key);
          TreeRows.value(row, 0, value);
          batch.put(key, value);
        }
        database.write(lazy, batch);
      }
    }

    void close() {
      usual.close();
    }
  }
}
