package org.revenantdb.jmh.gc;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionBody;
import org.revenantdb.engine.TransactionOptions;

/**
 * RevenantDB with the options that it has by itself, all transactions lazy. The snapshot is a
 * transaction that reads.
 */
public final class RevenantSnapshots implements SnapshotStore {
  private static final byte[] NONE = {};

  private final Path directory;
  private final Database database;
  private final Table rows;
  private final TransactionBody put = this::put;
  private byte[] key = NONE;
  private byte[] value = NONE;
  private @Nullable Transaction snapshot;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   */
  public RevenantSnapshots(Path directory) {
    this.directory = directory;
    database = Database.open(directory, DatabaseOptions.defaults().withPoolBytes(128L << 20));
    rows = database.getOrCreateTable("rows");
  }

  Database database() {
    return database;
  }

  @Override
  public void update(byte[] newKey, byte[] newValue) {
    key = newKey;
    value = newValue;
    database.run(TransactionOptions.lazy(), put);
  }

  private void put(Transaction writer) {
    writer.put(rows, key, value);
  }

  @Override
  public void openSnapshot() {
    snapshot = database.begin(TransactionOptions.lazy());
  }

  private Transaction open() {
    return Objects.requireNonNull(snapshot, "no snapshot is open");
  }

  @Override
  public byte[] readInSnapshot(byte[] wanted) {
    return Objects.requireNonNull(open().get(rows, wanted), "a row is not there");
  }

  @Override
  public byte[] readNow(byte[] wanted) {
    try (Transaction reader = database.begin(TransactionOptions.lazy())) {
      return Objects.requireNonNull(reader.get(rows, wanted), "a row is not there");
    }
  }

  @Override
  public void closeSnapshot() {
    open().close();
    snapshot = null;
  }

  @Override
  public long diskBytes() {
    return SnapshotStore.filesIn(directory);
  }

  @Override
  public void close() {
    if (snapshot != null) {
      closeSnapshot();
    }
    database.close();
  }
}
