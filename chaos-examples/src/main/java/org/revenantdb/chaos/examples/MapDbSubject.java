package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.Serializer;

/**
 * MapDB with transactions. Its book: "To protect file from corruption, MapDB offers Write Ahead Log
 * (WAL). It is reliable and simple way to make file changes atomic and durable."
 */
final class MapDbSubject extends PairSubject<DB> {
  @Override
  public DB open(Path dir) {
    return DBMaker.fileDB(dir.resolve("map.db").toFile())
        .fileChannelEnable()
        .transactionEnable()
        .make();
  }

  @Override
  void commit(DB store, SortedMap<String, String> changes) {
    store.hashMap("map", Serializer.STRING, Serializer.STRING).createOrOpen().putAll(changes);
    store.commit();
  }

  @Override
  @Nullable String get(DB store, String key) {
    return store.hashMap("map", Serializer.STRING, Serializer.STRING).createOrOpen().get(key);
  }
}
