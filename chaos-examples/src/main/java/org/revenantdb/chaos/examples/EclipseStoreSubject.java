package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import org.eclipse.store.storage.embedded.types.EmbeddedStorage;
import org.eclipse.store.storage.embedded.types.EmbeddedStorageManager;
import org.jspecify.annotations.Nullable;

/**
 * EclipseStore with its defaults. Its documents: "A store operation is an atomic all or nothing
 * operation." "If the store call is successful all data is written to the storage." They do not
 * speak of power cuts.
 */
final class EclipseStoreSubject extends PairSubject<EmbeddedStorageManager> {
  @Override
  public EmbeddedStorageManager open(Path dir) {
    EmbeddedStorageManager storage = EmbeddedStorage.start(dir);
    if (storage.root() == null) {
      storage.setRoot(new TreeMap<String, String>());
      storage.storeRoot();
    }
    return storage;
  }

  @SuppressWarnings("unchecked") // open stores a map of texts and nothing else
  private static SortedMap<String, String> map(EmbeddedStorageManager storage) {
    return (SortedMap<String, String>) storage.root();
  }

  @Override
  void commit(EmbeddedStorageManager store, SortedMap<String, String> changes) {
    map(store).putAll(changes);
    store.store(map(store));
  }

  @Override
  @Nullable String get(EmbeddedStorageManager store, String key) {
    return map(store).get(key);
  }

  @Override
  public void close(EmbeddedStorageManager store) {
    store.shutdown();
  }
}
