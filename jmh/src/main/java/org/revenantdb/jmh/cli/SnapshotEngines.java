package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import org.revenantdb.jmh.gc.RevenantSnapshots;
import org.revenantdb.jmh.gc.SnapshotStore;
import org.revenantdb.jmh.peer.LmdbSnapshots;
import org.revenantdb.jmh.peer.MvStoreSnapshots;
import org.revenantdb.jmh.peer.RocksSnapshots;
import org.revenantdb.jmh.peer.TuplSnapshots;

/** The engines that update hot rows with a snapshot in {@code bench gc}, and how each is used. */
enum SnapshotEngines {
  /** RevenantDB. */
  OURS(
      "ours",
      "RevenantDB",
      "",
      RevenantSnapshots.class,
      "default options, 128 MiB for pages, all lazy; the snapshot is a transaction; a kill and a power cut lose a tenth"
          + " of a second at most"),
  /** LMDB. */
  LMDB(
      "lmdb",
      "LMDB (lmdbjava)",
      "lmdbjava",
      LmdbSnapshots.class,
      "MDB_NOSYNC and MDB_WRITEMAP as in its benchmark, checks off; the snapshot is a reading"
          + " transaction; a kill loses nothing, a power cut a tenth of a second, or all if the system"
          + " wrote pages in another order"),
  /** RocksDB. */
  ROCKS(
      "rocksdb",
      "RocksDB",
      "rocksdbjni",
      RocksSnapshots.class,
      "put without sync, no compression for noise; the snapshot is getSnapshot; a kill loses nothing, a"
          + " power cut a tenth of a second"),
  /** H2's MVStore. */
  MVSTORE(
      "mvstore",
      "H2 MVStore",
      "h2",
      MvStoreSnapshots.class,
      "a map, committed and forced ten times a second; it keeps no log, so what is overwritten"
          + " in between is never written, and many updates are committed together; the snapshot is an"
          + " old version of the map that is registered as in use; a kill and a power cut lose a tenth of"
          + " a second"),
  /** TuplDB. */
  TUPL(
      "tupl",
      "TuplDB",
      "tupl",
      TuplSnapshots.class,
      "NO_FLUSH, a checkpoint a second (its default); its transactions read under locks, so the"
          + " snapshot is that for a backup, which is restored to be read; a kill and a power cut lose"
          + " a tenth of a second");

  private static final String HEAP = "512m";

  /** Of peers: what TuplDB and LMDB want. */
  private static final List<String> FLAGS =
      List.of(
          "--sun-misc-unsafe-memory-access=allow",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "-Dlmdbjava.disable.checks=true");

  private final String variant;
  private final String title;
  private final String artifact;
  private final Class<? extends SnapshotStore> store;
  private final String settings;

  SnapshotEngines(
      String variant,
      String title,
      String artifact,
      Class<? extends SnapshotStore> store,
      String settings) {
    this.variant = variant;
    this.title = title;
    this.artifact = artifact;
    this.store = store;
    this.settings = settings;
  }

  /** The name in points. */
  String variant() {
    return variant;
  }

  String className() {
    return store.getName();
  }

  /** Flags of its JVM; the heap is touched first, so that what grows later is not the heap. */
  List<String> flags() {
    List<String> flags =
        new ArrayList<>(List.of("-Xms" + HEAP, "-Xmx" + HEAP, "-XX:+AlwaysPreTouch"));
    if (this != OURS) {
      flags.addAll(Peers.NATIVE);
      flags.addAll(FLAGS);
    }
    return flags;
  }

  /** Notes its settings, and its version. */
  void describe(Figures figures) {
    figures.setting("beside others, " + title, settings);
    if (!artifact.isEmpty()) {
      figures.version(title, Peers.versionOf(artifact));
    }
  }
}
