package org.revenantdb.chaos.examples;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.Txn;

/** LMDB with default flags: "fully transactional with full ACID semantics". */
final class LmdbSubject extends PairSubject<LmdbSubject.Opened> {
  record Opened(Env<ByteBuffer> env, Dbi<ByteBuffer> map) implements AutoCloseable {
    @Override
    public void close() {
      env.close();
    }
  }

  @Override
  public Opened open(Path dir) {
    Env<ByteBuffer> env = Env.create().setMapSize(1 << 20).setMaxDbs(1).open(dir.toFile());
    return new Opened(env, env.openDbi("map", DbiFlags.MDB_CREATE));
  }

  @Override
  void commit(Opened store, SortedMap<String, String> changes) {
    try (Txn<ByteBuffer> transaction = store.env.txnWrite()) {
      changes.forEach((key, value) -> store.map.put(transaction, buffer(key), buffer(value)));
      transaction.commit();
    }
  }

  @Override
  @Nullable String get(Opened store, String key) {
    try (Txn<ByteBuffer> transaction = store.env.txnRead()) {
      ByteBuffer value = store.map.get(transaction, buffer(key));
      return value == null ? null : StandardCharsets.UTF_8.decode(value).toString();
    }
  }

  private static ByteBuffer buffer(String text) {
    byte[] bytes = bytes(text);
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }
}
