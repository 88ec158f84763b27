package org.revenantdb.jmh.work;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.Index;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.Row;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.TransactionOptions;

/** Ours: a typed table of records, as the guide has it. */
public final class RevenantIndexedItems implements IndexedItems {
  private static final TransactionOptions LAZY = TransactionOptions.lazy();

  private final Database database;
  private final TypedTable<Long, IndexedItem> items;
  private final Index<String, Long, IndexedItem> byName;
  private final Index<Integer, Long, IndexedItem> byNumber;

  /**
   * Creates a table.
   *
   * @param directory an empty one
   * @param cacheBytes for pages
   */
  public RevenantIndexedItems(Path directory, long cacheBytes) {
    database =
        Database.open(
            directory.resolve("database"), DatabaseOptions.defaults().withPoolBytes(cacheBytes));
    items = TypedTable.open(database, "items", Keys.longs(), Codecs.records(IndexedItem.class));
    byName = items.index("by name", Index.unique(Keys.strings(), IndexedItem::name));
    byNumber = items.index("by number", Index.of(Keys.ints(), IndexedItem::number));
  }

  @Override
  public void insert(long first, List<IndexedItem> rows) {
    database.run(
        LAZY,
        transaction -> {
          for (int i = 0; i < rows.size(); i++) {
            if (items.putIfAbsent(transaction, first + i, rows.get(i)) != null) {
              throw new IllegalStateException("there is a row " + (first + i));
            }
          }
        });
  }

  @Override
  public @Nullable IndexedItem named(String name) {
    Row<Long, IndexedItem> row = database.read(transaction -> byName.get(transaction, name));
    return row == null ? null : row.value();
  }

  @Override
  public List<Long> numbered(int number) {
    return database.read(
        transaction -> byNumber.scan(transaction).equalTo(number).stream().map(Row::key).toList());
  }

  @Override
  public Counts counts() {
    return database.read(transaction ->
        new Counts(
            items.scan(transaction).count(),
            byName.scan(transaction).count(),
            byNumber.scan(transaction).count()));
  }

  @Override
  public void close() {
    database.close();
  }
}
