package org.revenantdb.jmh.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.revenantdb.jmh.peer.BerkeleyRestart;
import org.revenantdb.jmh.peer.MvStoreRestart;
import org.revenantdb.jmh.peer.RocksRestart;
import org.revenantdb.jmh.peer.SqliteJournalRestart;
import org.revenantdb.jmh.peer.SqliteRestart;
import org.revenantdb.jmh.peer.TuplRestart;
import org.revenantdb.jmh.recovery.RestartStore;
import org.revenantdb.jmh.recovery.RevenantRestart;

/**
 * The engines that {@code bench recovery} kills with a large open transaction, and how each is
 * used.
 */
enum RestartEngines {
  /** RevenantDB. */
  OURS("RevenantDB", "", RevenantRestart.class, "default options, 128 MiB for pages"),
  /** RocksDB. */
  ROCKSDB(
      "RocksDB",
      "rocksdbjni",
      RocksRestart.class,
      "TransactionDB, commits with sync, no compression; a transaction is in memory alone until it"
          + " commits, so nothing of it is on disk (memory_bytes has it)"),
  /** TuplDB. */
  TUPL(
      "TuplDB",
      "tupl",
      TuplRestart.class,
      "SYNC, 128 MiB of cache, a checkpoint a second (its default); opening undoes"),
  /** H2's MVStore. */
  MVSTORE(
      "H2 MVStore",
      "h2",
      MvStoreRestart.class,
      "TransactionStore, for the store alone has no transactions; committed and forced after each"
          + " commit; 128 MiB of cache; opening undoes, as in H2 itself"),
  /** SQLite with a write-ahead log. */
  SQLITE(
      "SQLite (sqlite-jdbc)",
      "sqlite-jdbc",
      SqliteRestart.class,
      "WAL, synchronous FULL, 128 MiB of cache; what does not fit in there goes to the log as whole"
          + " pages before the commit, and opening reads that log"),
  /** SQLite as it is by itself. */
  SQLITE_JOURNAL(
      "SQLite, rollback journal",
      "sqlite-jdbc",
      SqliteJournalRestart.class,
      "as SQLite, but journal_mode DELETE, its default: opening puts back pages that were changed"
          + " in place; points only"),
  /** Berkeley DB Java Edition. */
  BERKELEY(
      "Berkeley DB JE",
      "je",
      BerkeleyRestart.class,
      "COMMIT_SYNC, cache 60 % of the heap (its default, the locks are in it), a checkpoint each"
          + " 20 MB (its default); opening undoes");

  /** Of all their JVMs: memory, Unsafe for TuplDB, native code for most, and for the signal. */
  static final List<String> FLAGS =
      List.of(
          "-Xms1g",
          "-Xmx1g",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  private final String title;
  private final String artifact;
  private final Class<? extends RestartStore> store;
  private final String settings;

  RestartEngines(
      String title, String artifact, Class<? extends RestartStore> store, String settings) {
    this.title = title;
    this.artifact = artifact;
    this.store = store;
    this.settings = settings;
  }

  /** All of them, or those that there are figures of. */
  static List<RestartEngines> of(boolean quick) {
    return Arrays.stream(values()).filter(engine -> !quick || engine.isPromised()).toList();
  }

  /** The name in points and figures. */
  String variant() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether there are figures of it, and not points alone. */
  boolean isPromised() {
    return this != SQLITE_JOURNAL;
  }

  String className() {
    return store.getName();
  }

  String title() {
    return title;
  }

  /** Notes its settings, and its version. */
  void describe(Figures figures) {
    figures.setting(title, settings);
    if (!artifact.isEmpty()) {
      figures.version(title, Peers.versionOf(artifact));
    }
  }
}
