package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.tx.Transaction;
import org.h2.mvstore.tx.TransactionMap;
import org.h2.mvstore.tx.TransactionStore;
import org.h2.mvstore.type.ByteArrayDataType;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.insert.RowNumbers;
import org.revenantdb.jmh.recovery.BigRows;
import org.revenantdb.jmh.recovery.RestartStore;

/**
 * The MVStore of H2 with its {@code TransactionStore}, which keeps an undo log in maps of the same
 * store. An MVStore alone has versions but no transactions. Opening rolls back open transactions,
 * as the database H2 does before it accepts connections.
 *
 * <p>A commit marks the transaction; to be durable the store then has to be committed and forced.
 * The cache has the size of ours.
 */
public final class MvStoreRestart implements RestartStore {
  private static final long CACHE_BYTES = 128L << 20;

  private final MVStore store;
  private final TransactionStore transactions;
  private @Nullable Transaction open;

  /**
   * Opens a store.
   *
   * @param directory empty, or of a store
   */
  public MvStoreRestart(Path directory) {
    store = MvStoreTree.open(directory, CACHE_BYTES);
    store.setVersionsToKeep(0); // as the database H2 does: the undo log has what readers need
    transactions = new TransactionStore(store);
    transactions.init();
    transactions.endLeftoverTransactions();
  }

  private static TransactionMap<byte[], byte[]> rows(Transaction transaction) {
    return transaction.openMap("rows", ByteArrayDataType.INSTANCE, ByteArrayDataType.INSTANCE);
  }

  @Override
  public void insert(long first, long count) {
    Transaction transaction = transactions.begin();
    TransactionMap<byte[], byte[]> rows = rows(transaction);
    for (long key = first; key < first + count; key++) {
      rows.put(RowNumbers.key(key), BigRows.row(key, 0));
    }
    transaction.commit();
    store.commit();
    store.sync();
  }

  @Override
  public void updateAll(long count) {
    Transaction transaction = transactions.begin();
    open = transaction;
    TransactionMap<byte[], byte[]> rows = rows(transaction);
    for (long key = 0; key < count; key++) {
      rows.put(RowNumbers.key(key), BigRows.row(key, 1));
    }
  }

  @Override
  public byte[] read(long key) {
    Transaction transaction = transactions.begin();
    byte[] row = rows(transaction).get(RowNumbers.key(key));
    transaction.commit();
    if (row == null) {
      throw new IllegalStateException("row " + key + " is missing");
    }
    return row;
  }

  @Override
  public void close() {
    if (open != null) {
      open.rollback();
    }
    transactions.close();
    store.close();
  }
}
