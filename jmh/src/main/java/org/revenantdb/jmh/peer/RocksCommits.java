package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import org.revenantdb.jmh.commit.OneRowCommits;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/**
 * RocksDB: each {@code put} with {@code sync} set, so that the write-ahead log is forced before it
 * returns. Writers that come meanwhile are one group of the next force; that is how it is by
 * itself.
 *
 * <p>Its best settings here, of plain, pipelined writes, recycled log files and both. Recycled log
 * files are overwritten instead of growing, which makes a force cheaper. The memory table is small,
 * so that there are files to recycle.
 */
public final class RocksCommits implements OneRowCommits {
  private static final int RECYCLED = 4;
  private static final long WRITE_BUFFER = 1 << 20;

  private final Options options;
  private final WriteOptions sync;
  private final RocksDB database;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @throws RocksDBException if it cannot
   */
  public RocksCommits(Path directory) throws RocksDBException {
    RocksDB.loadLibrary();
    options =
        new Options()
            .setCreateIfMissing(true)
            .setRecycleLogFileNum(RECYCLED)
            .setWriteBufferSize(WRITE_BUFFER);
    sync = new WriteOptions().setSync(true);
    database = RocksDB.open(options, directory.toString());
  }

  @Override
  public void commit(byte[] key, byte[] value) throws RocksDBException {
    database.put(sync, key, value);
  }

  @Override
  public void close() {
    database.close();
    sync.close();
    options.close();
  }
}
