package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.revenantdb.jmh.backup.CopiedStore;
import org.revenantdb.jmh.backup.CopiesFork;
import org.revenantdb.jmh.backup.RevenantBackups;
import org.revenantdb.jmh.backup.RevenantRestores;
import org.revenantdb.jmh.peer.RocksBackups;
import org.revenantdb.jmh.peer.RocksCheckpoints;
import org.revenantdb.jmh.peer.SqliteCopies;

/**
 * A restore to a moment, and copies of the same rows by us and by others. Nothing else runs
 * meanwhile. The figures are only reported.
 */
enum BackupCopies {
  /** RevenantDB, restored from its archive. */
  RESTORE(
      "RevenantDB, restore",
      "",
      RevenantRestores.class,
      "restore_log_mb_per_second",
      BackupCopies.SPEED,
      "to a moment, from an archive whose only base has no rows; until all pages are redone; MB of"
          + " log"),
  /** RevenantDB. */
  OURS(
      "RevenantDB, backup",
      "",
      RevenantBackups.class,
      "copy_mb_per_second_ours",
      BackupCopies.SPEED,
      "default options; MB of pages and log; forced by the backup"),
  /** SQLite. */
  SQLITE(
      "SQLite (sqlite-jdbc)",
      "sqlite-jdbc",
      SqliteCopies.class,
      "copy_mb_per_second_sqlite",
      BackupCopies.SPEED,
      "WAL, synchronous FULL, 128 MiB of cache; its backup API, then forced; MB of the new file"),
  /** RocksDB's copies. */
  ROCKSDB(
      "RocksDB, BackupEngine",
      "rocksdbjni",
      RocksBackups.class,
      "copy_mb_per_second_rocksdb",
      BackupCopies.SPEED,
      "TransactionDB, no compression; flushed, copied with sync to an empty directory, then forced;"
          + " MB of its files"),
  /** RocksDB's links. */
  ROCKSDB_CHECKPOINT(
      "RocksDB, Checkpoint",
      "rocksdbjni",
      RocksCheckpoints.class,
      "checkpoint_seconds_rocksdb",
      BackupCopies.TIME,
      "TransactionDB, no compression; flushed, hard links to the files with rows, then forced");

  private static final String SPEED = "copy_mb_per_second";
  private static final String TIME = "copy_seconds";

  private static final Map<String, String> UNITS =
      Map.of(
          SPEED,
          "MB/s",
          TIME,
          "s",
          "copy_mb",
          "MB",
          "restore_call_seconds",
          "s",
          "redone_after_first_row_seconds",
          "s");

  private final String title;
  private final String artifact;
  private final Class<? extends CopiedStore> store;
  private final String figure;
  private final String metric;
  private final String settings;

  BackupCopies(
      String title,
      String artifact,
      Class<? extends CopiedStore> store,
      String figure,
      String metric,
      String settings) {
    this.title = title;
    this.artifact = artifact;
    this.store = store;
    this.figure = figure;
    this.metric = metric;
    this.settings = settings;
  }

  /** Names of all figures. */
  static List<String> figures() {
    return Arrays.stream(values()).map(one -> one.figure).toList();
  }

  String figure() {
    return figure;
  }

  String className() {
    return store.getName();
  }

  /** Notes its settings, and its version. */
  void describe(Figures figures) {
    figures.setting(title, settings);
    if (!artifact.isEmpty()) {
      figures.version(title, Peers.versionOf(artifact));
    }
  }

  /** The name in points. */
  private String variant() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Measures those that are wanted, in turn. */
  static void measure(ForkSession session, Bench.Settings settings) throws CannotMeasureException {
    Figures figures = session.figures();
    String rows = session.sized(200_000, 4_000_000);
    List<ForkSession.Child> children = new ArrayList<>();
    List<BackupCopies> wanted =
        Arrays.stream(values()).filter(one -> settings.wants(one.figure)).toList();
    for (BackupCopies one : wanted) {
      one.describe(figures);
      children.add(
          new ForkSession.Child(
              one.variant(),
              CopiesFork.class,
              RestartEngines.FLAGS,
              null,
              List.of("DIRECTORY", one.className(), rows, session.sized(3, 5))));
    }
    figures.setting(
        "copies", rows + " rows; the median of copies of an idle store, without the first");
    Map<String, Sample> samples = session.run("copies, in turn", children, UNITS);
    for (BackupCopies one : wanted) {
      figures.attempt(() ->
          figures.put(one.figure, ForkSession.median(samples, one.metric + "," + one.variant())));
    }
  }
}
