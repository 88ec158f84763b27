package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.nio.file.Path;
import java.util.SortedMap;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.Options;
import org.iq80.leveldb.WriteBatch;
import org.iq80.leveldb.WriteOptions;
import org.iq80.leveldb.impl.Iq80DBFactory;
import org.jspecify.annotations.Nullable;

/**
 * LevelDB in Java (iq80). The documents of the original on {@code sync}: the write operation does
 * "not return until the data being written has been pushed all the way to persistent storage". A
 * write buffer of 16 KiB, so that tables and manifests are written as well.
 */
final class LevelDbSubject extends PairSubject<DB> {
  @Override
  public DB open(Path dir) throws IOException {
    return Iq80DBFactory.factory.open(
        dir.toFile(), new Options().createIfMissing(true).writeBufferSize(16 << 10));
  }

  @Override
  void commit(DB store, SortedMap<String, String> changes) throws IOException {
    try (WriteBatch batch = store.createWriteBatch()) {
      changes.forEach(
          (key, value) -> batch.put(Iq80DBFactory.bytes(key), Iq80DBFactory.bytes(value)));
      store.write(batch, new WriteOptions().sync(true));
    }
  }

  @Override
  @Nullable String get(DB store, String key) {
    return Iq80DBFactory.asString(store.get(Iq80DBFactory.bytes(key)));
  }
}
