package org.revenantdb.jmh.tree;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionBody;
import org.revenantdb.engine.TransactionOptions;

/**
 * RevenantDB, everything lazy; all other options are those it has by itself.
 *
 * <p>It reads by {@link Transaction#get}, which returns a copy: that array is the caller's.
 */
public final class RevenantTree implements TreeStore {
  private final Database database;
  private final Table table;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param cacheBytes memory for pages
   */
  public RevenantTree(Path directory, long cacheBytes) {
    database = Database.open(directory, DatabaseOptions.defaults().withPoolBytes(cacheBytes));
    table = database.table("rows");
  }

  DatabaseStatistics statistics() {
    return database.statistics();
  }

  CheckReport check() {
    return database.check();
  }

  @Override
  public void settle() {
    database.cleanNow();
    database.checkpoint();
  }

  @Override
  public Session session() {
    return new Own();
  }

  @Override
  public void close() {
    database.close();
  }

  private final class Own implements Session {
    private static final byte[] NONE = {};

    private final TransactionBody<RuntimeException> put = this::put;
    private byte[] key = NONE;
    private byte[] value = NONE;
    private @Nullable Transaction transaction;

    @Override
    public void begin() {
      transaction = database.begin(TransactionOptions.lazy());
    }

    @Override
    public long read(byte[] wanted) {
      byte[] found = current().get(table, wanted);
      if (found == null) {
        throw new IllegalStateException("a row is not there");
      }
      return TreeRows.sum(found);
    }

    @Override
    public void end() {
      current().commit();
      transaction = null;
    }

    private Transaction current() {
      Transaction current = transaction;
      if (current == null) {
        throw new IllegalStateException("no transaction was begun");
      }
      return current;
    }

    @Override
    public long scan(byte[] from, int rows) {
      long sum = 0;
      try (Transaction reader = database.begin(TransactionOptions.lazy());
          Cursor cursor = reader.scan(table, from, null)) {
        for (int i = 0; i < rows && cursor.next(); i++) {
          sum += TreeRows.sum(cursor.value());
        }
        reader.commit();
      }
      return sum;
    }

    @Override
    public void update(byte[] newKey, byte[] newValue) {
      key = newKey;
      value = newValue;
      database.run(TransactionOptions.lazy(), put);
    }

    private void put(Transaction writer) {
      writer.put(table, key, value);
    }

    @Override
    public void load(long first, int count) {
      byte[] rowKey = new byte[TreeRows.KEY];
      byte[] rowValue = new byte[TreeRows.VALUE];
      database.run(
          TransactionOptions.lazy(),
          writer -> {
            for (long row = first; row < first + count; row++) {
              TreeRows.key(row, rowKey);
              TreeRows.value(row, 0, rowValue);
              writer.put(table, rowKey, rowValue);
            }
          });
    }
  }
}
