package org.revenantdb.jmh.peer;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.cojen.tupl.Database;
import org.cojen.tupl.DatabaseConfig;
import org.cojen.tupl.DurabilityMode;
import org.cojen.tupl.Index;
import org.cojen.tupl.Snapshot;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.gc.PeriodicForce;
import org.revenantdb.jmh.gc.SnapshotStore;

/**
 * TuplDB, set up like {@link TuplTree}. Its transactions read the present state, under locks that
 * would block writers. Its view of one moment is the snapshot for a backup, which keeps the pages
 * unchanged while it is open. Rows of it are read from a database restored from it.
 *
 * <p>A kill and a power cut lose a tenth of a second.
 */
public final class TuplSnapshots implements SnapshotStore {
  private static final long CACHE_BYTES = 128L << 20;
  private static final String ROWS = "rows";

  private final Path directory;
  private final Database database;
  private final Index rows;
  private final PeriodicForce force;
  private @Nullable Snapshot snapshot;
  private @Nullable Database restored;
  private @Nullable Index then;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @throws IOException if it cannot
   */
  public TuplSnapshots(Path directory) throws IOException {
    this.directory = directory;
    database = TuplTree.open(directory, CACHE_BYTES, DurabilityMode.NO_FLUSH);
    rows = database.openIndex(ROWS);
    force = new PeriodicForce(database::sync);
  }

  @Override
  public void update(byte[] key, byte[] value) throws IOException {
    rows.store(null, key, value);
  }

  @Override
  public void openSnapshot() throws IOException {
    database.checkpoint(); // a snapshot is of the last one
    snapshot = database.beginSnapshot();
  }

  @Override
  public byte[] readInSnapshot(byte[] key) throws IOException {
    Index index = then;
    if (index == null) {
      index = restore();
      then = index;
    }
    return Objects.requireNonNull(index.load(null, key), "a row is not there");
  }

  private Index restore() throws IOException {
    Snapshot open = Objects.requireNonNull(snapshot, "no snapshot is open");
    Path copy = directory.resolve("snapshot");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(copy))) {
      open.writeTo(out);
    }
    Path folder = Files.createDirectory(directory.resolve("restored"));
    try (InputStream in = new BufferedInputStream(Files.newInputStream(copy))) {
      Database other =
          Database.restoreFromSnapshot(
              new DatabaseConfig().baseFilePath(folder.resolve("tupl").toString()), in);
      restored = other;
      return other.openIndex(ROWS);
    }
  }

  @Override
  public byte[] readNow(byte[] key) throws IOException {
    return Objects.requireNonNull(rows.load(null, key), "a row is not there");
  }

  @Override
  public void closeSnapshot() throws IOException {
    if (snapshot != null) {
      snapshot.close();
      snapshot = null;
    }
    if (restored != null) {
      restored.close();
      restored = null;
      then = null;
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
  }
}
