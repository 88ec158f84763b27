package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;
import org.revenantdb.jmh.tree.TreeRows;
import org.revenantdb.jmh.tree.TreeStore;

/**
 * The MVStore of H2: a map that many threads may change, committed once a second by its own thread.
 * There is no transaction around it, so many reads do not belong to one moment. It keeps the arrays
 * that it receives and returns them, so keys and values are copied before they are stored and after
 * they are read.
 *
 * <p>A lazy commit is a {@code put}: the kill of the process loses a second. A power cut loses a
 * second and more, because the store is not forced.
 */
public final class MvStoreTree implements TreeStore {
  private static final int MIB = 20;

  private final MVStore store;
  private final MVMap<byte[], byte[]> rows;

  /**
   * Creates a store.
   *
   * @param directory an empty one
   * @param cacheBytes of its cache
   */
  public MvStoreTree(Path directory, long cacheBytes) {
    store = open(directory, cacheBytes);
    rows = rows(store);
  }

  /** A store with a cache of this size. */
  static MVStore open(Path directory, long cacheBytes) {
    return new MVStore.Builder()
        .fileName(directory.resolve("rows.mv").toString())
        .cacheSize(Math.toIntExact(Math.max(1, cacheBytes >> MIB)))
        .open();
  }

  /** The map of a store. */
  static MVMap<byte[], byte[]> rows(MVStore store) {
    return store.openMap(
        "rows",
        new MVMap.Builder<byte[], byte[]>()
            .keyType(ByteArrayDataType.INSTANCE)
            .valueType(ByteArrayDataType.INSTANCE));
  }

  @Override
  public void settle() {
    store.commit();
  }

  @Override
  public Session session() {
    return new Own();
  }

  @Override
  public void close() {
    store.close();
  }

  private final class Own implements Session {
    private final byte[] into = new byte[TreeRows.VALUE];

    @Override
    public void begin() {
      // nothing to begin
    }

    @Override
    public long read(byte[] key) {
      byte[] found = rows.get(key);
      if (found == null) {
        throw new IllegalStateException("a row is not there");
      }
      System.arraycopy(found, 0, into, 0, into.length);
      return TreeRows.sum(into);
    }

    @Override
    public void end() {
      // nothing to end
    }

    @Override
    public long scan(byte[] from, int count) {
      long sum = 0;
      Cursor<byte[], byte[]> cursor = rows.cursor(from);
      for (int i = 0; i < count && cursor.hasNext(); i++) {
        cursor.next();
        System.arraycopy(cursor.getValue(), 0, into, 0, into.length);
        sum += TreeRows.sum(into);
      }
      return sum;
    }

    @Override
    public void update(byte[] key, byte[] value) {
      rows.put(key.clone(), value.clone());
    }

    @Override
    public void load(long first, int count) {
      for (long row = first; row < first + count; row++) {
        byte[] value = new byte[TreeRows.VALUE];
        TreeRows.value(row, 0, value);
        rows.put(TreeRows.key(row), value);
      }
      store.commit();
    }
  }
}
