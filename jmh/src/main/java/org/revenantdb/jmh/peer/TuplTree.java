package org.revenantdb.jmh.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.IntSupplier;
import org.cojen.tupl.Cursor;
import org.cojen.tupl.Database;
import org.cojen.tupl.DatabaseConfig;
import org.cojen.tupl.DurabilityMode;
import org.cojen.tupl.Index;
import org.cojen.tupl.LockMode;
import org.cojen.tupl.Transaction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.tree.TreeRows;
import org.revenantdb.jmh.tree.TreeStore;

/**
 * TuplDB. A single read and an update are without a transaction object and commit by themselves, as
 * in its introduction. Many reads are in a transaction at read committed, which keeps no lock.
 * {@code load} returns a copy: that array belongs to the caller.
 *
 * <p>A lazy commit is {@code NO_FLUSH}. The kill of the process loses what is still in its buffer,
 * which is written when it is full and at each checkpoint. A power cut loses what no checkpoint has
 * forced. Its pages are off the heap by default if Unsafe is allowed.
 */
public final class TuplTree implements TreeStore {
  private final Database database;
  private final Index rows;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param cacheBytes memory for pages, all of it taken at once
   * @throws IOException if it cannot
   */
  public TuplTree(Path directory, long cacheBytes) throws IOException {
    database = open(directory, cacheBytes, DurabilityMode.NO_FLUSH);
    rows = database.openIndex("rows");
  }

  /** A database with a cache of fixed size. */
  static Database open(Path directory, long cacheBytes, DurabilityMode durability)
      throws IOException {
    return Database.open(
        new DatabaseConfig()
            .baseFilePath(directory.resolve("tupl").toString())
            .minCacheSize(cacheBytes)
            .maxCacheSize(cacheBytes)
            .durabilityMode(durability));
  }

  @Override
  public void settle() throws IOException {
    database.checkpoint();
  }

  @Override
  public void updateInOne(IntSupplier numbers, int count, int shift) throws IOException {
    Transaction writer = database.newTransaction(DurabilityMode.SYNC);
    try {
      byte[] value = new byte[TreeRows.VALUE];
      for (int i = 0; i < count; i++) {
        int row = numbers.getAsInt();
        TreeRows.value((long) row + shift, 0, value);
        rows.store(writer, TreeRows.key(row), value); // its locks keep the key until the end
      }
      writer.commit();
    } finally {
      writer.reset();
    }
  }

  @Override
  public Session session() {
    return new Own();
  }

  @Override
  public void close() throws IOException {
    database.close();
  }

  private final class Own implements Session {
    private @Nullable Transaction transaction;

    @Override
    public void begin() {
      Transaction reader = database.newTransaction();
      reader.lockMode(LockMode.READ_COMMITTED);
      transaction = reader;
    }

    @Override
    public long read(byte[] key) throws IOException {
      byte[] found = rows.load(transaction, key);
      if (found == null) {
        throw new IllegalStateException("a row is not there");
      }
      return TreeRows.sum(found);
    }

    @Override
    public void end() throws IOException {
      if (transaction != null) {
        transaction.commit();
        transaction = null;
      }
    }

    @Override
    public long scan(byte[] from, int count) throws IOException {
      long sum = 0;
      Cursor cursor = rows.newCursor(null);
      try {
        cursor.findGe(from);
        for (int i = 0; i < count; i++) {
          byte[] value = cursor.value();
          if (value == null) {
            break;
          }
          sum += TreeRows.sum(value);
          cursor.next();
        }
      } finally {
        cursor.reset();
      }
      return sum;
    }

    @Override
    public void update(byte[] key, byte[] value) throws IOException {
      rows.store(null, key, value);
    }

    @Override
    public void load(long first, int count) throws IOException {
      Transaction writer = database.newTransaction();
      try {
        byte[] value = new byte[TreeRows.VALUE];
        for (long row = first; row < first + count; row++) {
          TreeRows.value(row, 0, value);
          rows.store(writer, TreeRows.key(row), value); // its locks keep the key until the end
        }
        writer.commit();
      } finally {
        writer.reset();
      }
    }
  }
}
