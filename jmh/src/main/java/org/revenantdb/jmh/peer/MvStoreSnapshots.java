package org.revenantdb.jmh.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.gc.PeriodicForce;
import org.revenantdb.jmh.gc.SnapshotStore;

/**
 * The MVStore of H2, set up like {@link MvStoreTree}. The snapshot is an old version of the map, as
 * in its documentation, that is registered as being in use: none of its pages is reused.
 *
 * <p>A kill and a power cut lose a tenth of a second.
 */
public final class MvStoreSnapshots implements SnapshotStore {
  private static final long CACHE_BYTES = 128L << 20;

  private final Path directory;
  private final MVStore store;
  private final MVMap<byte[], byte[]> rows;
  private final PeriodicForce force;
  private MVStore.@Nullable TxCounter use;
  private @Nullable MVMap<byte[], byte[]> snapshot;

  /**
   * Creates a store.
   *
   * @param directory an empty one
   */
  public MvStoreSnapshots(Path directory) {
    this.directory = directory;
    store = MvStoreTree.open(directory, CACHE_BYTES);
    rows = MvStoreTree.rows(store);
    force =
        new PeriodicForce(() -> {
          store.commit();
          store.sync();
        });
  }

  @Override
  public void update(byte[] key, byte[] value) {
    rows.put(key.clone(), value.clone());
  }

  @Override
  public void openSnapshot() {
    MVStore.TxCounter registered = store.registerVersionUsage();
    store.commit(); // that version contains everything written so far
    use = registered;
    snapshot = rows.openVersion(registered.version);
  }

  @Override
  public byte[] readInSnapshot(byte[] key) {
    MVMap<byte[], byte[]> open = Objects.requireNonNull(snapshot, "no snapshot is open");
    return Objects.requireNonNull(open.get(key), "a row is not there");
  }

  @Override
  public byte[] readNow(byte[] key) {
    return Objects.requireNonNull(rows.get(key), "a row is not there");
  }

  @Override
  public void closeSnapshot() {
    if (use != null) {
      store.deregisterVersionUsage(use);
      use = null;
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
    store.close();
  }
}
