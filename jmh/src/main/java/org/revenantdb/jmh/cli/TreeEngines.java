package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import org.revenantdb.jmh.peer.LmdbTree;
import org.revenantdb.jmh.peer.MvStoreTree;
import org.revenantdb.jmh.peer.RocksTree;
import org.revenantdb.jmh.peer.TuplTree;
import org.revenantdb.jmh.tree.MapLimit;
import org.revenantdb.jmh.tree.RevenantTree;
import org.revenantdb.jmh.tree.TreeStore;

/** The engines of {@code bench tree}, and how each is used. */
enum TreeEngines {
  /** RevenantDB. */
  OURS(
      "ours",
      "RevenantDB",
      "",
      RevenantTree.class,
      "all lazy, all other options but the memory for pages are the defaults; a kill loses what the"
          + " log had not been forced for yet, at most a tenth of a second, a power cut the same"),
  /** LMDB, for reads. */
  LMDB(
      "lmdb",
      "LMDB (lmdbjava)",
      "lmdbjava",
      LmdbTree.class,
      "one reading transaction and cursor a thread, reset and renewed (its tutorial: much faster);"
          + " checks off, MDB_NOSYNC and MDB_WRITEMAP as in its benchmark; its memory is the mapped"
          + " file; a kill loses nothing, a power cut may lose everything"),
  /** TuplDB, for writes. */
  TUPL(
      "tupl",
      "TuplDB",
      "tupl",
      TuplTree.class,
      "NO_FLUSH and a cache of fixed size, as its introduction shows; single reads and updates"
          + " commit by themselves, many reads are READ_COMMITTED, its cheapest that holds no lock;"
          + " a kill loses what is in its buffer, some kilobytes or a checkpoint's second, a power cut"
          + " what was not forced by one"),
  /** RocksDB. */
  ROCKS(
      "rocksdb",
      "RocksDB",
      "rocksdbjni",
      RocksTree.class,
      "block cache, bloom filters of 10 bits (its guide, for point reads), no compression for noise,"
          + " compacted after the load; a kill loses nothing, a power cut what was not forced"),
  /** H2's MVStore. */
  MVSTORE(
      "mvstore",
      "H2 MVStore",
      "h2",
      MvStoreTree.class,
      "a map that commits once a second by itself; no transactions, so many reads are not of one"
          + " moment; a kill loses a second, a power cut more"),
  /** The upper limit of what can be gained. */
  MAP(
      "hashmap",
      "ConcurrentHashMap",
      "",
      MapLimit.class,
      "copies on the heap, no order, no log: the limit; a kill loses all");

  private static final List<String> FLAGS =
      List.of(
          "--sun-misc-unsafe-memory-access=allow",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "-Dlmdbjava.disable.checks=true");

  private final String variant;
  private final String title;
  private final String artifact;
  private final Class<? extends TreeStore> store;
  private final String settings;

  TreeEngines(
      String variant,
      String title,
      String artifact,
      Class<? extends TreeStore> store,
      String settings) {
    this.variant = variant;
    this.title = title;
    this.artifact = artifact;
    this.store = store;
    this.settings = settings;
  }

  /** All of them, or those that figures are made from. */
  static List<TreeEngines> of(boolean quick) {
    return quick ? List.of(OURS, LMDB, TUPL) : List.of(values());
  }

  /** The name in points. */
  String variant() {
    return variant;
  }

  String className() {
    return store.getName();
  }

  boolean isOrdered() {
    return this != MAP;
  }

  /** Flags of its JVM: ours needs none and gets none but the heap. */
  List<String> flags(String heap) {
    List<String> flags = new ArrayList<>(List.of("-Xms" + heap, "-Xmx" + heap));
    if (this != OURS && this != MAP) {
      flags.addAll(Peers.NATIVE);
      flags.addAll(FLAGS);
    }
    return flags;
  }

  /** Notes its settings, and its version. */
  void describe(Figures figures) {
    figures.setting(title, settings);
    if (!artifact.isEmpty()) {
      figures.version(title, Peers.versionOf(artifact));
    }
  }
}
