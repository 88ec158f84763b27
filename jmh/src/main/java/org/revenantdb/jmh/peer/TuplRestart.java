package org.revenantdb.jmh.peer;

import java.io.IOException;
import java.nio.file.Path;
import org.cojen.tupl.Database;
import org.cojen.tupl.DurabilityMode;
import org.cojen.tupl.Index;
import org.cojen.tupl.Transaction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.insert.RowNumbers;
import org.revenantdb.jmh.recovery.BigRows;
import org.revenantdb.jmh.recovery.RestartStore;

/**
 * TuplDB: a transaction writes redo to the log and undo to pages, which checkpoints (one a second)
 * force as well; it holds a lock for each row. Opening replays the log since the last checkpoint
 * and undoes uncommitted work.
 *
 * <p>A commit is {@code SYNC}; a cache of the size of ours, off the heap.
 */
public final class TuplRestart implements RestartStore {
  private static final long CACHE_BYTES = 128L << 20;

  private final Database database;
  private final Index rows;
  private @Nullable Transaction open;

  static {
    try {
      Class.forName("com.sun.jna.Native"); // its way to native code
    } catch (ClassNotFoundException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * Opens a database.
   *
   * @param directory empty, or of a database
   * @throws IOException if it cannot
   */
  public TuplRestart(Path directory) throws IOException {
    database = TuplTree.open(directory, CACHE_BYTES, DurabilityMode.SYNC);
    rows = database.openIndex("rows");
  }

  @Override
  public void insert(long first, long count) throws IOException {
    Transaction transaction = database.newTransaction();
    try {
      for (long key = first; key < first + count; key++) {
        rows.store(transaction, RowNumbers.key(key), BigRows.row(key, 0));
      }
      transaction.commit();
    } finally {
      transaction.reset();
    }
  }

  @Override
  public void updateAll(long count) throws IOException {
    Transaction transaction = database.newTransaction();
    open = transaction;
    for (long key = 0; key < count; key++) {
      rows.store(transaction, RowNumbers.key(key), BigRows.row(key, 1));
    }
  }

  @Override
  public byte[] read(long key) throws IOException {
    byte[] row = rows.load(null, RowNumbers.key(key));
    if (row == null) {
      throw new IllegalStateException("row " + key + " is missing");
    }
    return row;
  }

  /** Ends with a checkpoint, which {@code close} alone does not. */
  @Override
  public void close() throws IOException {
    if (open != null) {
      open.reset();
    }
    database.shutdown();
  }
}
