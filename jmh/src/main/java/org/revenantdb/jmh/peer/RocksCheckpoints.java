package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import org.revenantdb.jmh.backup.CopiedFiles;
import org.revenantdb.jmh.backup.CopiedStore;
import org.rocksdb.Checkpoint;
import org.rocksdb.RocksDBException;

/**
 * RocksDB as in {@link RocksRestart}: a checkpoint, which flushes the memory table and has hard
 * links to the files with rows. So nothing is copied, and the checkpoint is on the same device.
 */
public final class RocksCheckpoints extends RocksRestart implements CopiedStore {
  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @throws RocksDBException if it cannot
   */
  public RocksCheckpoints(Path directory) throws RocksDBException {
    super(directory);
  }

  @Override
  public AutoCloseable copyTo(Path target) throws Exception {
    try (Checkpoint checkpoint = Checkpoint.create(database())) {
      checkpoint.createCheckpoint(target.toString());
    }
    CopiedFiles.force(target);
    return () -> {};
  }

  /** Nothing is copied. */
  @Override
  public double bytes(Path target) {
    return 0;
  }

  @Override
  public byte[] readCopy(Path target, long key) throws Exception {
    try (RocksRestart copy = new RocksRestart(target)) {
      return copy.read(key);
    }
  }
}
