package org.revenantdb.jmh.cli;

import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.peer.LmdbRandomTree;
import org.revenantdb.jmh.tree.DefaultPoolTree;

/** The engines of {@code bench larger-than-memory}, each with the memory that it gets for pages. */
enum LimitedEngines {
  /** RevenantDB that chooses by itself. */
  OURS(TreeEngines.OURS, "ours", null),
  /** RevenantDB with the same number of bytes as the others. */
  OURS_SET(TreeEngines.OURS, "ours-pages", OURS),
  /** LMDB, whose memory is the cache of the system. */
  LMDB(TreeEngines.LMDB, "lmdb", null),
  /** TuplDB. */
  TUPL(TreeEngines.TUPL, "tupl", null),
  /** TuplDB with most of the memory for its own pages. */
  TUPL_WIDE(TreeEngines.TUPL, "tupl-wide", TUPL),
  /** RocksDB. */
  ROCKS(TreeEngines.ROCKS, "rocksdb", null),
  /** RocksDB with most of the memory for its own pages. */
  ROCKS_WIDE(TreeEngines.ROCKS, "rocksdb-wide", ROCKS);

  /** What a JVM needs beside its heap and the pages. */
  private static final long OTHER = 160L << 20;

  private final TreeEngines engine;
  private final String variant;
  private final @Nullable LimitedEngines owner;

  LimitedEngines(TreeEngines engine, String variant, @Nullable LimitedEngines owner) {
    this.engine = engine;
    this.variant = variant;
    this.owner = owner;
  }

  TreeEngines engine() {
    return engine;
  }

  String variant() {
    return variant;
  }

  /** The one whose files it reads. */
  LimitedEngines owner() {
    return owner == null ? this : owner;
  }

  boolean isOwner() {
    return owner == null;
  }

  String className() {
    return switch (this) {
      case OURS -> DefaultPoolTree.class.getName();
      case LMDB -> LmdbRandomTree.class.getName();
      default -> engine.className();
    };
  }

  /** Bytes of memory for pages. */
  long pages(LargerThanMemoryBench.Sizes sizes) {
    return this == TUPL_WIDE || this == ROCKS_WIDE
        ? sizes.limit() - ((long) sizes.heap() << 20) - OTHER
        : sizes.pages();
  }

  /** Notes its settings, and its version. */
  void describe(Figures figures) {
    if (isOwner()) {
      engine.describe(figures);
    }
    if (this == LMDB) {
      figures.setting(variant, "MDB_NORDAHEAD, as its documentation advises for this case");
    } else if (this == OURS) {
      figures.setting(
          variant, "memory for pages is the default, which depends on the limit; ours-pages: set");
    } else if (!isOwner()) {
      figures.setting(variant, "another setting of " + owner().variant());
    }
  }
}
