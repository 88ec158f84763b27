package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.revenantdb.engine.backup.BackedUp.key;

import java.nio.ByteBuffer;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * Commits with numbers. Commit {@code n} writes row {@code n % ROWS}, or deletes it, and a row with
 * {@code n}; some are rolled back. So the number of commits says what a copy has to hold.
 */
public final class NumberedCommits {
  private static final int ROWS = 300;
  public static final byte[] TICKET = key(1_000_000);

  private NumberedCommits() {}

  public static void commit(Database db, Table rows, long n) {
    try (Transaction tx = db.begin()) {
      if (n % 11 == 0) {
        tx.put(rows, key(5_000), value(n));
        tx.rollback();
        return;
      }
      byte[] key = key((int) (n % ROWS));
      if (n % 7 == 0) {
        tx.delete(rows, key);
      } else {
        tx.put(rows, key, value(n));
      }
      tx.put(rows, TICKET, ByteBuffer.allocate(8).putLong(n).array());
      tx.commit();
    }
  }

  private static byte[] value(long n) {
    return ByteBuffer.allocate(400).putLong(n).array();
  }

  /** The highest number. */
  public static long count(Database db) {
    byte[] found =
        db.findTable("rows") == null ? null : db.read(tx -> tx.get(db.table("rows"), TICKET));
    return found == null ? 0 : ByteBuffer.wrap(found).getLong();
  }

  /** How many commits a database has; it has exactly those. */
  public static long checked(Database db) {
    long commits = count(db);
    int rows = 0;
    try (Transaction tx = db.begin();
        Cursor cursor = tx.scan(db.table("rows"), null, TICKET)) {
      for (; cursor.next(); rows++) {
        int row = Integer.parseInt(new String(cursor.key()));
        assertEquals(last(row, commits), ByteBuffer.wrap(cursor.value()).getLong(), "row " + row);
      }
    }
    int expected = 0;
    for (int row = 0; row < ROWS; row++) {
      expected += last(row, commits) > 0 ? 1 : 0;
    }
    assertEquals(expected, rows, "rows behind " + commits + " commits");
    return commits;
  }

  /** The commit that a row is of; 0 if there is no row. */
  private static long last(int row, long commits) {
    long n = commits - Math.floorMod(commits - row, ROWS);
    while (n > 0 && n % 11 == 0) {
      n -= ROWS; // was rolled back
    }
    return n <= 0 || n % 7 == 0 ? 0 : n;
  }
}
