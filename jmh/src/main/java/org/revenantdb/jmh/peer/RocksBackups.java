package org.revenantdb.jmh.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import org.revenantdb.jmh.backup.CopiedFiles;
import org.revenantdb.jmh.backup.CopiedStore;
import org.rocksdb.BackupEngine;
import org.rocksdb.BackupEngineOptions;
import org.rocksdb.Env;
import org.rocksdb.RestoreOptions;
import org.rocksdb.RocksDBException;

/**
 * RocksDB as in {@link RocksRestart}: its backup engine, which copies all files to an empty
 * directory, with {@code sync}. The memory table is flushed first.
 */
public final class RocksBackups extends RocksRestart implements CopiedStore {
  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @throws RocksDBException if it cannot
   */
  public RocksBackups(Path directory) throws RocksDBException {
    super(directory);
  }

  @Override
  public AutoCloseable copyTo(Path target) throws Exception {
    Files.createDirectory(target); // else it is refused
    try (BackupEngineOptions options = options(target);
        BackupEngine engine = BackupEngine.open(Env.getDefault(), options)) {
      engine.createNewBackup(database(), /* flushBeforeBackup= */ true);
    }
    CopiedFiles.force(target);
    return () -> {};
  }

  private static BackupEngineOptions options(Path target) {
    return new BackupEngineOptions(target.toString()).setSync(true);
  }

  @Override
  public byte[] readCopy(Path target, long key) throws Exception {
    Path restored = Files.createDirectory(target.resolve("restored" + key));
    try (BackupEngineOptions options = options(target);
        BackupEngine engine = BackupEngine.open(Env.getDefault(), options);
        RestoreOptions plain = new RestoreOptions(/* keepLogFiles= */ false)) {
      engine.restoreDbFromLatestBackup(restored.toString(), restored.toString(), plain);
    }
    try (RocksRestart copy = new RocksRestart(restored)) {
      return copy.read(key);
    }
  }
}
