package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB. {@link WriteOptions}, {@code sync}: "the write will be flushed from the operating system
 * buffer cache (by calling WritableFile::Sync()) before the write is considered complete".
 */
final class RocksDbSubject extends PairSubject<RocksDB> {
  @Override
  public RocksDB open(Path dir) throws RocksDBException {
    return RocksDB.open(
        new Options()
            .setCreateIfMissing(true)
            .setWriteBufferSize(16 << 10)
            .setMaxBackgroundJobs(1)
            .setStatsDumpPeriodSec(0),
        dir.toString());
  }

  @Override
  void commit(RocksDB store, SortedMap<String, String> changes) throws RocksDBException {
    try (WriteBatch batch = new WriteBatch();
        WriteOptions options = new WriteOptions().setSync(true)) {
      for (Map.Entry<String, String> change : changes.entrySet()) {
        batch.put(bytes(change.getKey()), bytes(change.getValue()));
      }
      store.write(options, batch);
    }
  }

  @Override
  @Nullable String get(RocksDB store, String key) throws RocksDBException {
    byte[] value = store.get(bytes(key));
    return text(value);
  }
}
