package org.revenantdb.engine.testing;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;

/** Keys, values and small databases for tests of the public API. */
public final class Samples {
  public static final int MIB = 1 << 20;

  /** Small enough that many databases can be open at once and eviction is seen. */
  public static final DatabaseOptions SMALL =
      DatabaseOptions.defaults()
          .withShortTransactionRows(4) // rollbacks of both kinds
          .withPoolBytes(4 * MIB)
          .withLogSegmentBytes(MIB)
          .withMaxRecoveryLog(8 * MIB)
          .withCleanerThreads(3);

  private Samples() {}

  public static Database open(Path directory) {
    return Database.open(directory, SMALL);
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static @Nullable String text(byte @Nullable [] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  public static byte[] random(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  public static void put(Database db, String table, String key, String value) {
    db.run(tx -> tx.put(db.getOrCreateTable(table), bytes(key), bytes(value)));
  }

  /** Older versions of rows that are in memory now. */
  public static long versionsInMemory(DatabaseStatistics counts) {
    return counts.versions().added() - counts.versions().pruned() - counts.versions().swept();
  }

  public static @Nullable String get(Database db, String table, String key) {
    return db.call(tx -> text(tx.get(db.getOrCreateTable(table), bytes(key))));
  }

  /** All rows that a cursor gives, as {@code key=value}. */
  public static List<String> rows(Cursor cursor) {
    List<String> rows = new ArrayList<>();
    try (cursor) {
      while (cursor.next()) {
        rows.add(text(cursor.key()) + "=" + text(cursor.value()));
      }
    }
    return rows;
  }

  /** All keys that a cursor gives. */
  public static List<String> keys(Cursor cursor) {
    List<String> keys = new ArrayList<>();
    try (cursor) {
      while (cursor.next()) {
        keys.add(text(cursor.key()));
      }
    }
    return keys;
  }
}
