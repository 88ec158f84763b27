package org.revenantdb.suite.crash;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * A witness: durable transactions that read, and a record of every answer at the moment it was
 * given. Everything recorded must be there after a crash, including absences (rule R10).
 *
 * <p>An answer with a value identifies the version, because all values differ. Some answers have no
 * value (the row exists, there is none to delete, a conflict). They are requested only where the
 * caller knows which version they depend on, because no other session writes that row.
 *
 * <p>Threads: the thread of its session.
 */
final class DurableReader {

  private static final TransactionOptions DURABLE = TransactionOptions.durable();

  private final Database db;
  private final Promises promises;
  private final Function<String, Table> tables;

  DurableReader(Database db, Promises promises, Function<String, Table> tables) {
    this.db = db;
    this.promises = promises;
    this.tables = tables;
  }

  /** Reads rows by their keys, in one snapshot. */
  void get(String table, List<byte[]> keys) {
    try (Transaction tx = db.begin(DURABLE)) {
      for (byte[] key : keys) {
        told(table, key, tx.get(tables.apply(table), key));
      }
    }
  }

  /** Reads a row as a stream. */
  void stream(String table, byte[] key) {
    try (Transaction tx = db.begin(DURABLE);
        InputStream value = tx.open(tables.apply(table), key)) {
      told(table, key, value == null ? null : value.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Scans a range. The given keys in it that the scan does not return are recorded as absent. */
  void scan(String table, List<byte[]> keys, boolean descending) {
    byte[] from = keys.getFirst();
    byte[] to = keys.getLast();
    boolean[] met = new boolean[keys.size()];
    try (Transaction tx = db.begin(DURABLE);
        Cursor cursor =
            descending
                ? tx.scanDescending(tables.apply(table), from, to)
                : tx.scan(tables.apply(table), from, to)) {
      while (cursor.next()) {
        byte[] key = cursor.key();
        for (int i = 0; i < met.length; i++) {
          met[i] |= Arrays.equals(keys.get(i), key);
        }
        told(table, key, cursor.value());
      }
    }
    for (int i = 0; i < met.length - 1; i++) { // the last one is behind the range
      if (!met[i]) {
        told(table, keys.get(i), null);
      }
    }
  }

  /** Checks whether a row exists whose content the caller knows. */
  void exists(String table, byte[] key, byte @Nullable [] known) {
    try (Transaction tx = db.begin(DURABLE)) {
      boolean there = tx.exists(tables.apply(table), key);
      expect(there == (known != null), table, key, "exists returns " + there);
      promises.durableRead(Cell.key(table, key), known);
    }
  }

  /** Deletes a row, records whether it existed, and rolls the delete back. */
  void delete(String table, byte[] key, byte @Nullable [] known) {
    try (Transaction tx = db.begin(DURABLE)) {
      boolean there = tx.delete(tables.apply(table), key);
      expect(there == (known != null), table, key, "delete returns " + there);
      promises.durableRead(Cell.key(table, key), known);
    }
  }

  /** Causes a conflict with a write that is committed in between, and records that write. */
  void conflict(String table, byte[] key, Write between) {
    try (Transaction tx = db.begin(DURABLE)) {
      byte @Nullable [] now = between.make();
      try {
        tx.put(tables.apply(table), key, new byte[] {1});
      } catch (ConflictException conflict) {
        promises.durableRead(Cell.key(table, key), now);
        return;
      }
      expect(false, table, key, "no conflict with a later commit");
    }
  }

  /** Reads the version of a row in a snapshot after other threads have changed it. */
  void older(String table, byte[] key, Runnable others) {
    try (Transaction tx = db.begin(DURABLE)) {
      others.run();
      told(table, key, tx.get(tables.apply(table), key));
    }
  }

  /** Reads without waiting, and records the answers when its commit has waited. */
  void afterCommit(String table, List<byte[]> keys) {
    byte[][] seen = new byte[keys.size()][];
    try (Transaction tx = db.begin(DURABLE.withDeferReadWaitsToCommit(true))) {
      for (int i = 0; i < seen.length; i++) {
        byte[] value = tx.get(tables.apply(table), keys.get(i));
        seen[i] = value == null ? new byte[0] : value; // no value is that short
      }
      tx.commit();
    }
    for (int i = 0; i < seen.length; i++) {
      told(table, keys.get(i), seen[i].length == 0 ? null : seen[i]);
    }
  }

  private void told(String table, byte[] key, byte @Nullable [] value) {
    promises.durableRead(Cell.key(table, key), value == null ? null : Cell.promised(value));
  }

  private static void expect(boolean holds, String table, byte[] key, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(
          otherwise
              + " of row "
              + new String(key, java.nio.charset.StandardCharsets.US_ASCII)
              + " of "
              + table
              + ", which this session alone writes");
    }
  }

  /** A commit of the caller; returns the new value of the row in promises. */
  @FunctionalInterface
  interface Write {
    /** Makes the commit. */
    byte @Nullable [] make();
  }
}
