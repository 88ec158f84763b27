package org.revenantdb.jmh.peer;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.insert.RowNumbers;
import org.revenantdb.jmh.recovery.BigRows;
import org.revenantdb.jmh.recovery.RestartStore;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Transaction;
import org.rocksdb.TransactionDB;
import org.rocksdb.TransactionDBOptions;
import org.rocksdb.WriteOptions;

/**
 * RocksDB: a {@code TransactionDB}, whose transactions keep their writes and a lock for each key in
 * memory until they commit. So a kill leaves nothing of one on disk, and a restart has nothing to
 * do. The cost of a large transaction is memory.
 *
 * <p>A commit is a write to the log with {@code sync}. No compression: neighbouring rows are
 * similar, and no other engine compresses.
 */
public class RocksRestart implements RestartStore {
  private final Options options;
  private final TransactionDBOptions transactional;
  private final WriteOptions sync;
  private final TransactionDB database;
  private @Nullable Transaction open;

  static {
    RocksDB.loadLibrary();
  }

  /**
   * Opens a database.
   *
   * @param directory empty, or of a database
   * @throws RocksDBException if it cannot
   */
  public RocksRestart(Path directory) throws RocksDBException {
    options =
        new Options().setCreateIfMissing(true).setCompressionType(CompressionType.NO_COMPRESSION);
    transactional = new TransactionDBOptions();
    sync = new WriteOptions().setSync(true);
    database = TransactionDB.open(options, transactional, directory.toString());
  }

  /**
   * Returns the database.
   *
   * @return the open database
   */
  protected final RocksDB database() {
    return database;
  }

  @Override
  public void insert(long first, long count) throws RocksDBException {
    try (Transaction transaction = database.beginTransaction(sync)) {
      for (long key = first; key < first + count; key++) {
        transaction.put(RowNumbers.key(key), BigRows.row(key, 0));
      }
      transaction.commit();
    }
  }

  @Override
  public void updateAll(long rows) throws RocksDBException {
    Transaction transaction = database.beginTransaction(sync);
    open = transaction;
    for (long key = 0; key < rows; key++) {
      transaction.put(RowNumbers.key(key), BigRows.row(key, 1));
    }
  }

  @Override
  public byte[] read(long key) throws RocksDBException {
    byte[] row = database.get(RowNumbers.key(key));
    if (row == null) {
      throw new IllegalStateException("row " + key + " is missing");
    }
    return row;
  }

  /** Ends with a flush, because the next opening would otherwise replay the log of all rows. */
  @Override
  public void close() throws IOException {
    if (open != null) {
      open.close();
    }
    try (FlushOptions waiting = new FlushOptions().setWaitForFlush(true)) {
      database.flush(waiting);
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
    database.close();
    sync.close();
    transactional.close();
    options.close();
  }
}
