package org.revenantdb.jmh.tree;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A hash map of copies on the heap, without pages, order, log and transactions: the upper limit of
 * what can be gained. It is a map of {@code java.util.concurrent}, because two threads update the
 * rows.
 */
public final class MapLimit implements TreeStore {
  private static final VarHandle BIG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private record Key(long high, long low) {
    static Key of(byte[] bytes) {
      return new Key((long) BIG.get(bytes, 0), (long) BIG.get(bytes, Long.BYTES));
    }
  }

  private final ConcurrentHashMap<Key, byte[]> rows = new ConcurrentHashMap<>();

  /**
   * Makes an empty one.
   *
   * @param directory not used
   * @param cacheBytes not used
   */
  public MapLimit(Path directory, long cacheBytes) {}

  @Override
  public void settle() {
    // nothing runs in the background
  }

  @Override
  public Session session() {
    return new Own();
  }

  @Override
  public void close() {
    rows.clear();
  }

  private final class Own implements Session {
    private final byte[] into = new byte[TreeRows.VALUE];

    @Override
    public void begin() {
      // nothing to begin
    }

    @Override
    public long read(byte[] key) {
      byte[] found = rows.get(Key.of(key));
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
      throw new UnsupportedOperationException("a hash map has no order");
    }

    @Override
    public void update(byte[] key, byte[] value) {
      rows.put(Key.of(key), value.clone());
    }

    @Override
    public void load(long first, int count) {
      for (long row = first; row < first + count; row++) {
        byte[] value = new byte[TreeRows.VALUE];
        TreeRows.value(row, 0, value);
        rows.put(Key.of(TreeRows.key(row)), value);
      }
    }
  }
}
