package org.revenantdb.jmh.peer;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.lmdbjava.Cursor;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.GetOp;
import org.lmdbjava.PutFlags;
import org.lmdbjava.Txn;
import org.revenantdb.jmh.tree.TreeRows;
import org.revenantdb.jmh.tree.TreeStore;

/**
 * LMDB by lmdbjava. A thread has one reading transaction, which it resets and renews, and one
 * cursor for scans: according to its tutorial that is much faster than new ones. Values are copied
 * out of the mapped file.
 *
 * <p>The mapped file is its memory, so there is no setting for the size of a cache. A lazy commit
 * is {@code MDB_NOSYNC} with {@code MDB_WRITEMAP}, as in its own benchmark: the kill of the process
 * loses nothing, a power cut may lose everything.
 */
public class LmdbTree implements TreeStore {
  private static final long MAP = 8L << 30;

  private final Env<ByteBuffer> environment;
  private final Dbi<ByteBuffer> rows;
  private final List<Own> sessions = new CopyOnWriteArrayList<>();

  /**
   * Creates an environment.
   *
   * @param directory an empty one
   * @param cacheBytes not used
   */
  public LmdbTree(Path directory, long cacheBytes) {
    this(directory, EnvFlags.MDB_NOSYNC, EnvFlags.MDB_WRITEMAP);
  }

  /** With other flags. */
  LmdbTree(Path directory, EnvFlags... flags) {
    environment = Env.create().setMapSize(MAP).setMaxDbs(2).open(directory.toFile(), flags);
    rows = environment.openDbi("rows", DbiFlags.MDB_CREATE);
  }

  @Override
  public void settle() {
    environment.sync(/* force= */ true);
  }

  @Override
  public boolean loadSorted(int count) {
    Dbi<ByteBuffer> sorted = environment.openDbi("sorted", DbiFlags.MDB_CREATE);
    ByteBuffer key = ByteBuffer.allocateDirect(TreeRows.KEY);
    ByteBuffer value = ByteBuffer.allocateDirect(TreeRows.VALUE);
    byte[] rowKey = new byte[TreeRows.KEY];
    byte[] rowValue = new byte[TreeRows.VALUE];
    try (Txn<ByteBuffer> writer = environment.txnWrite()) {
      try (Cursor<ByteBuffer> end = sorted.openCursor(writer)) {
        for (int row = 0; row < count; row++) {
          TreeRows.key(row, rowKey);
          TreeRows.value(row, 0, rowValue);
          key.clear().put(rowKey).flip();
          value.clear().put(rowValue).flip();
          end.put(key, value, PutFlags.MDB_APPEND);
        }
      }
      writer.commit();
    }
    return true;
  }

  @Override
  public Session session() {
    Own session = new Own();
    sessions.add(session);
    return session;
  }

  @Override
  public void close() {
    sessions.forEach(Own::close);
    environment.close();
  }

  private final class Own implements Session {
    private final ByteBuffer key = ByteBuffer.allocateDirect(TreeRows.KEY);
    private final ByteBuffer value = ByteBuffer.allocateDirect(TreeRows.VALUE);
    private final byte[] into = new byte[TreeRows.VALUE];
    private final Txn<ByteBuffer> reader = environment.txnRead();
    private final Cursor<ByteBuffer> cursor = rows.openCursor(reader);

    Own() {
      reader.reset();
    }

    @Override
    public void begin() {
      reader.renew();
    }

    @Override
    public long read(byte[] wanted) {
      key.clear().put(wanted).flip();
      ByteBuffer found = rows.get(reader, key);
      if (found == null) {
        throw new IllegalStateException("a row is not there");
      }
      return sum(found);
    }

    @Override
    public void end() {
      reader.reset();
    }

    @Override
    public long scan(byte[] from, int count) {
      key.clear().put(from).flip();
      reader.renew();
      cursor.renew(reader); // or it would look into pages of the time before
      long sum = 0;
      boolean there = cursor.get(key, GetOp.MDB_SET_RANGE);
      for (int i = 0; i < count && there; i++) {
        sum += sum(cursor.val());
        there = cursor.next();
      }
      reader.reset();
      return sum;
    }

    private long sum(ByteBuffer found) {
      found.get(0, into);
      return TreeRows.sum(into);
    }

    @Override
    public void update(byte[] newKey, byte[] newValue) {
      key.clear().put(newKey).flip();
      value.clear().put(newValue).flip();
      rows.put(key, value);
    }

    @Override
    public void load(long first, int count) {
      byte[] rowKey = new byte[TreeRows.KEY];
      byte[] rowValue = new byte[TreeRows.VALUE];
      try (Txn<ByteBuffer> writer = environment.txnWrite()) {
        for (long row = first; row < first + count; row++) {
          TreeRows.key(row, rowKey);
          TreeRows.value(row, 0, rowValue);
          key.clear().put(rowKey).flip();
          value.clear().put(rowValue).flip();
          rows.put(writer, key, value);
        }
        writer.commit();
      }
    }

    void close() {
      cursor.close();
      reader.close();
    }
  }
}
