package org.revenantdb.jmh.tree;

import java.nio.file.Path;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BulkLoad;
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
 * RevenantDB with default options, except for the memory for pages. All changes are committed
 * lazily.
 *
 * <p>It reads by the {@link Transaction#get(Table, byte[], byte[], int)} that copies into an array
 * of the caller's.
 */
public class RevenantTree implements TreeStore {
  /** A prime that divides no number of rows: a walk by it meets each row once. */
  private static final long STRIDE = 1_500_450_271;

  private final Database database;
  private final Table table;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param cacheBytes memory for pages
   */
  public RevenantTree(Path directory, long cacheBytes) {
    this(directory, DatabaseOptions.defaults().withPoolBytes(cacheBytes));
  }

  /** With other options. */
  RevenantTree(Path directory, DatabaseOptions options) {
    database = Database.open(directory, options);
    table = database.getOrCreateTable("rows");
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
  public boolean loadSorted(int rows) {
    byte[] key = new byte[TreeRows.KEY];
    byte[] value = new byte[TreeRows.VALUE];
    Table sorted = database.getOrCreateTable("sorted");
    try (BulkLoad load = database.bulkLoad(sorted, TransactionOptions.lazy())) {
      for (int row = 0; row < rows; row++) {
        TreeRows.key(row, key);
        TreeRows.value(row, 0, value);
        load.add(key, value);
      }
      load.finish();
    }
    return true;
  }

  @Override
  public boolean loadUnsorted(int rows) {
    byte[] key = new byte[TreeRows.KEY];
    byte[] value = new byte[TreeRows.VALUE];
    Table unsorted = database.getOrCreateTable("unsorted");
    try (BulkLoad load = database.bulkLoad(unsorted, TransactionOptions.lazy())) {
      for (int i = 0; i < rows; i++) {
        long row = i * STRIDE % rows;
        TreeRows.key(row, key);
        TreeRows.value(row, 0, value);
        load.addUnsorted(key, value);
      }
      load.finish();
    }
    return true;
  }

  @Override
  public void updateInOne(IntSupplier rows, int count, int shift) {
    byte[] key = new byte[TreeRows.KEY];
    byte[] value = new byte[TreeRows.VALUE];
    try (Transaction writer = database.begin()) {
      for (int i = 0; i < count; i++) {
        int row = rows.getAsInt();
        TreeRows.key(row, key);
        TreeRows.value((long) row + shift, 0, value);
        writer.put(table, key, value);
      }
      writer.commit();
    }
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

    private final TransactionBody put = this::put;
    private final byte[] into = new byte[TreeRows.VALUE];
    private byte[] key = NONE;
    private byte[] value = NONE;
    private @Nullable Transaction transaction;

    @Override
    public void begin() {
      transaction = database.begin(TransactionOptions.lazy());
    }

    @Override
    public long read(byte[] wanted) {
      if (current().get(table, wanted, into, 0) != into.length) {
        throw new IllegalStateException("a row is not there");
      }
      return TreeRows.sum(into);
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
          cursor.value(into, 0);
          sum += TreeRows.sum(into);
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
