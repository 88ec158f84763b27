package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.SortedMap;
import org.h2.mvstore.MVStore;
import org.jspecify.annotations.Nullable;

/**
 * H2 MVStore. {@code MVStore.sync}: "Force all stored changes to be written to disk. The default
 * implementation calls FileChannel.force(true)."
 */
final class MvStoreSubject extends PairSubject<MVStore> {
  @Override
  public MVStore open(Path dir) {
    return new MVStore.Builder()
        .fileName(dir.resolve("store.mv").toString())
        .autoCommitDisabled()
        .open();
  }

  @Override
  void commit(MVStore store, SortedMap<String, String> changes) {
    store.<String, String>openMap("map").putAll(changes);
    store.commit();
    store.sync();
  }

  @Override
  @Nullable String get(MVStore store, String key) {
    return store.<String, String>openMap("map").get(key);
  }
}
