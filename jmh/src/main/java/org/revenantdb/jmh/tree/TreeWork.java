package org.revenantdb.jmh.tree;

import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import org.revenantdb.jmh.fork.Sessions;

/**
 * The repeated work of the threads of {@code bench tree}, the same for all engines. Each value that
 * is read is checked against its key.
 *
 * <p>A step is many operations: one alone is too short to be timed.
 */
final class TreeWork {
  /** Rows of a commit when a table is loaded. */
  static final int ROWS_A_COMMIT = 1000;

  /** Rows of a scan. */
  static final int ROWS_A_SCAN = 100;

  /** Reads, updates or both that are a step. */
  static final int STEP = 100;

  /** Scans that are a step. */
  static final int SCANS_A_STEP = 10;

  private TreeWork() {}

  /** Stores all rows in key order. */
  static void load(TreeStore.Session session, int rows) throws Exception {
    for (int row = 0; row < rows; row += ROWS_A_COMMIT) {
      session.load(row, Math.min(ROWS_A_COMMIT, rows - row));
    }
  }

  /** Updates of random rows by one thread, a transaction each. */
  static void update(TreeStore.Session session, IntSupplier choice, int count, long seed)
      throws Exception {
    Sessions.Session one = single(session, choice, /* readPercent= */ 0, seed);
    for (int i = 0; i < count; i++) {
      one.step();
    }
  }

  /** As {@link #mix}, but a step is one operation: where each may wait for a disk. */
  static Sessions.Session single(
      TreeStore.Session session, IntSupplier choice, int readPercent, long seed) {
    return mix(session, choice, readPercent, seed, /* operations= */ 1);
  }

  /** As {@link #scans}, but a step is one scan. */
  static Sessions.Session singleScan(TreeStore.Session session, IntSupplier choice) {
    return scans(session, choice, /* scans= */ 1);
  }

  /** Point reads, a number of them in a transaction. */
  static Sessions.Session reads(
      TreeStore.Session session, IntSupplier choice, int readsInTransaction) {
    byte[] key = new byte[TreeRows.KEY];
    return () -> {
      for (int done = 0; done < STEP; done += readsInTransaction) {
        session.begin();
        for (int i = 0; i < readsInTransaction; i++) {
          read(session, choice.getAsInt(), key);
        }
        session.end();
      }
    };
  }

  /** Point reads in a transaction that is open. */
  static Sessions.Session readsInside(TreeStore.Session session, IntSupplier choice) {
    byte[] key = new byte[TreeRows.KEY];
    return () -> {
      for (int i = 0; i < STEP; i++) {
        read(session, choice.getAsInt(), key);
      }
    };
  }

  /** Scans that begin at rows of any kind that have enough after them. */
  static Sessions.Session scans(TreeStore.Session session, IntSupplier choice) {
    return scans(session, choice, SCANS_A_STEP);
  }

  private static Sessions.Session scans(TreeStore.Session session, IntSupplier choice, int scans) {
    byte[] key = new byte[TreeRows.KEY];
    return () -> {
      for (int i = 0; i < scans; i++) {
        long row = choice.getAsInt();
        TreeRows.key(row, key);
        long sum = session.scan(key, ROWS_A_SCAN);
        if (sum != ROWS_A_SCAN * row + ROWS_A_SCAN * (ROWS_A_SCAN - 1L) / 2) {
          throw new IllegalStateException("a scan from row " + row + " adds up to " + sum);
        }
      }
    };
  }

  /** Reads and updates of one row each, in transactions of their own. */
  static Sessions.Session mix(
      TreeStore.Session session, IntSupplier choice, int readPercent, long seed) {
    return mix(session, choice, readPercent, seed, STEP);
  }

  private static Sessions.Session mix(
      TreeStore.Session session, IntSupplier choice, int readPercent, long seed, int operations) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] key = new byte[TreeRows.KEY];
    byte[] value = new byte[TreeRows.VALUE];
    return () -> {
      for (int i = 0; i < operations; i++) {
        int row = choice.getAsInt();
        if (readPercent > 0 && random.nextInt(100) < readPercent) {
          session.begin();
          read(session, row, key);
          session.end();
        } else {
          TreeRows.key(row, key);
          TreeRows.value(row, random.nextInt(), value);
          session.update(key, value);
        }
      }
    };
  }

  private static void read(TreeStore.Session session, long row, byte[] key) throws Exception {
    TreeRows.key(row, key);
    long sum = session.read(key);
    if (sum != row) {
      throw new IllegalStateException("row " + row + " has the value of " + sum);
    }
  }
}
