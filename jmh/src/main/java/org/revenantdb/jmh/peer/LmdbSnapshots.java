package org.revenantdb.jmh.peer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.Txn;
import org.revenantdb.jmh.gc.PeriodicForce;
import org.revenantdb.jmh.gc.SnapshotStore;

/**
 * LMDB by lmdbjava, set up as {@link LmdbTree}. The snapshot is a reading transaction that stays
 * open: no page that was freed since it began is used again.
 *
 * <p>A kill loses nothing. A power cut loses what was not forced for a tenth of a second, or
 * everything if pages reached the disk in another order.
 */
public final class LmdbSnapshots implements SnapshotStore {
  /** Two million copies of a branch of a tree come to this, and more. */
  private static final long MAP = 64L << 30;

  private static final int LONGEST = 128;

  private final Env<ByteBuffer> environment;
  private final Dbi<ByteBuffer> rows;
  private final ByteBuffer key = ByteBuffer.allocateDirect(LONGEST);
  private final ByteBuffer value = ByteBuffer.allocateDirect(LONGEST);
  private final PeriodicForce force;
  private @Nullable Txn<ByteBuffer> snapshot;

  /**
   * Creates an environment.
   *
   * @param directory an empty one
   */
  public LmdbSnapshots(Path directory) {
    environment =
        Env.create()
            .setMapSize(MAP)
            .setMaxDbs(1)
            .open(
                directory.toFile(),
                EnvFlags.MDB_NOSYNC,
                EnvFlags.MDB_WRITEMAP,
                EnvFlags.MDB_NOTLS); // or the thread that holds the snapshot could not write
    rows = environment.openDbi("rows", DbiFlags.MDB_CREATE);
    force = new PeriodicForce(() -> environment.sync(/* force= */ true));
  }

  @Override
  public void update(byte[] newKey, byte[] newValue) {
    key.clear().put(newKey).flip();
    value.clear().put(newValue).flip();
    rows.put(key, value);
  }

  @Override
  public void openSnapshot() {
    snapshot = environment.txnRead();
  }

  private Txn<ByteBuffer> open() {
    return Objects.requireNonNull(snapshot, "no snapshot is open");
  }

  @Override
  public byte[] readInSnapshot(byte[] wanted) {
    return read(open(), wanted);
  }

  @Override
  public byte[] readNow(byte[] wanted) {
    try (Txn<ByteBuffer> reader = environment.txnRead()) {
      return read(reader, wanted);
    }
  }

  private byte[] read(Txn<ByteBuffer> reader, byte[] wanted) {
    key.clear().put(wanted).flip();
    ByteBuffer found = Objects.requireNonNull(rows.get(reader, key), "a row is not there");
    byte[] copy = new byte[found.remaining()];
    found.get(copy);
    return copy;
  }

  @Override
  public void closeSnapshot() {
    if (snapshot != null) {
      snapshot.close();
      snapshot = null;
    }
  }

  /** The pages that are in use: the file is as long as the map from the start. */
  @Override
  public long diskBytes() {
    return (environment.info().lastPageNumber + 1) * environment.stat().pageSize;
  }

  @Override
  public void close() throws IOException {
    closeSnapshot();
    force.close();
    environment.close();
  }
}
