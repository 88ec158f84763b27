package org.revenantdb.jmh.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.gc.PeriodicForce;
import org.revenantdb.jmh.gc.SnapshotStore;
import org.rocksdb.CompressionType;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;
import org.rocksdb.WriteOptions;

/**
 * RocksDB: a {@code put} each, to its log without {@code sync}; the snapshot is RocksDB's own. Its
 * write buffers and compactions have their defaults, without compression, because the values are
 * noise. A kill loses nothing, a power cut a tenth of a second.
 */
public final class RocksSnapshots implements SnapshotStore {
  private final Path directory;
  private final Options options =
      new Options().setCreateIfMissing(true).setCompressionType(CompressionType.NO_COMPRESSION);
  private final WriteOptions lazy = new WriteOptions();
  private final ReadOptions inSnapshot = new ReadOptions();
  private final RocksDB database;
  private final PeriodicForce force;
  private @Nullable Snapshot snapshot;

  static {
    RocksDB.loadLibrary();
  }

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @throws RocksDBException if it cannot
   */
  public RocksSnapshots(Path directory) throws RocksDBException {
    this.directory = directory;
    database = RocksDB.open(options, directory.toString());
    force = new PeriodicForce(database::syncWal);
  }

  @Override
  public void update(byte[] key, byte[] value) throws RocksDBException {
    database.put(lazy, key, value);
  }

  @Override
  public void openSnapshot() {
    Snapshot taken = database.getSnapshot();
    inSnapshot.setSnapshot(taken);
    snapshot = taken;
  }

  @Override
  public byte[] readInSnapshot(byte[] key) throws RocksDBException {
    return Objects.requireNonNull(database.get(inSnapshot, key), "a row is not there");
  }

  @Override
  public byte[] readNow(byte[] key) throws RocksDBException {
    return Objects.requireNonNull(database.get(key), "a row is not there");
  }

  @Override
  public void closeSnapshot() {
    if (snapshot != null) {
      inSnapshot.setSnapshot(null);
      database.releaseSnapshot(snapshot);
      snapshot = null;
    }
  }

  @Override
  public long diskBytes() {
    return SnapshotStore.filesIn(directory);
  }

  @Override
  public void close() throws IOException {
    closeSnapshot();
    force.close();
    database.close();
    inSnapshot.close();
    lazy.close();
    options.close();
  }
}
