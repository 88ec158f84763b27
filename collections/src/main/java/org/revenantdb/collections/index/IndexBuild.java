package org.revenantdb.collections.index;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.DuplicateKeyException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * Declares an index, and builds it beside readers and writers if it is not complete.
 *
 * @param <V> type of the rows
 */
public final class IndexBuild<V> {
  /*
   * Steps      1 one transaction creates the table of the entries and stores "being built"
   *            2 the index is declared: from now on each write of a row changes it, too
   *            3 wait for the transactions that had written to the table before
   *            4 batches, a transaction each: lock the row, put its entries, store how far that is
   *            5 the last batch stores "complete"
   *
   * Step 2, 3  A write looks at what is declared again when it has written the row (TableIndexes.since). If the index
   *            is not there yet, the row was written before step 2, and step 3 waits for its transaction. Step 3 is a
   *            drop of the table that is rolled back: the drop waits for all transactions that have written to the
   *            table.
   *
   * Step 4     A row is locked and then read, so no transaction changes it between the read and the commit of its
   *            entries. A change since the snapshot of the batch is a conflict, and the batch is repeated.
   *            A later change sees the entries, or is itself a conflict: the lock counts as a write.
   *            So the old value of a write that misses step 2 has no entry yet, and only the new one is added.
   *
   * Crash      after 1: the next life finds "being built", refuses writes until the index is declared, and continues
   *            behind the stored row. In 4: the same; a batch is there as a whole or not at all.
   */
  private static final int BATCH = 256;

  private final Database database;
  private final Table rows;
  private final BiFunction<byte[], byte[], V> decoder;
  private final TableIndexes<V> indexes;
  private final Kept.Expired expired;

  /** Builds indexes of a table. */
  public IndexBuild(
      Database database,
      Table rows,
      BiFunction<byte[], byte[], V> decoder,
      TableIndexes<V> indexes,
      Kept.Expired expired) {
    this.database = database;
    this.rows = rows;
    this.decoder = decoder;
    this.indexes = indexes;
    this.expired = expired;
  }

  /** Declares an index; returns when it is complete. */
  public Maintained<V> declare(
      String name,
      long version,
      IndexShape<?, V> shape,
      Function<byte[], Object> rowKey,
      LongConsumer progress) {
    indexes.changes().lock();
    try {
      return declareAlone(name, version, shape, rowKey, progress);
    } finally {
      indexes.changes().unlock();
    }
  }

  private Maintained<V> declareAlone(
      String name,
      long version,
      IndexShape<?, V> shape,
      Function<byte[], Object> rowKey,
      LongConsumer progress) {
    Table catalog = database.getOrCreateTable(IndexCatalog.TABLE);
    String table = rows.name();
    IndexCatalog.Stored stored =
        database.call(tx -> {
          IndexCatalog.Stored found = IndexCatalog.find(tx, catalog, table, name);
          if (found == null) {
            Table _ = tx.createTable(IndexCatalog.entriesOf(table, name));
            found =
                new IndexCatalog.Stored(version, shape.isUnique(), shape.isCovering(), false, null);
            IndexCatalog.store(tx, catalog, table, name, found);
          }
          return found;
        });
    if (stored.version() != version
        || stored.isUnique() != shape.isUnique()
        || stored.isCovering() != shape.isCovering()) {
      throw new IllegalStateException(
          "table "
              + table
              + ": index "
              + name
              + " is stored with version "
              + stored.version()
              + (stored.isUnique() ? ", unique" : "")
              + (stored.isCovering() ? ", covering" : "")
              + "; drop it by dropIndex, and declare it again");
    }
    Maintained<V> index =
        new Maintained<>(
            table, name, database.table(IndexCatalog.entriesOf(table, name)), shape, rowKey);
    indexes.add(index);
    if (!stored.isComplete()) {
      try {
        awaitWriters();
        build(index, catalog, stored, progress);
      } catch (DuplicateKeyException duplicate) {
        drop(name);
        throw duplicate;
      }
    }
    return index;
  }

  /**
   * Keeps something that has no entries of its own with each write. It is stored as incomplete
   * until all have ended that had written without it.
   */
  public void keep(String name, Kept<V> kept) {
    indexes.changes().lock();
    try {
      Table catalog = database.getOrCreateTable(IndexCatalog.TABLE);
      String table = rows.name();
      IndexCatalog.Stored stored =
          database.call(tx -> {
            IndexCatalog.Stored found = IndexCatalog.find(tx, catalog, table, name);
            if (found == null) {
              found = new IndexCatalog.Stored(1, false, false, /* isComplete= */ false, null);
              IndexCatalog.store(tx, catalog, table, name, found);
            }
            return found;
          });
      if (indexes.find(name) == null) { // else a write that runs would keep both
        indexes.add(kept);
      }
      if (!stored.isComplete()) {
        awaitWriters();
        database.run(tx ->
            IndexCatalog.store(
                tx,
                catalog,
                table,
                name,
                new IndexCatalog.Stored(1, false, false, /* isComplete= */ true, null)));
      }
    } finally {
      indexes.changes().unlock();
    }
  }

  /** Returns when all who had written to the table have ended. */
  public void awaitWriters() {
    try {
      database.run(tx -> { // it waits its turn after a conflict
        tx.dropTable(rows);
        throw new WritersEnded(); // so the drop is rolled back
      });
    } catch (WritersEnded expected) {
      // and nothing has changed
    }
  }

  private static final class WritersEnded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WritersEnded() {
      super("those who had written have ended", null, false, false);
    }
  }

  private void build(
      Maintained<V> index, Table catalog, IndexCatalog.Stored from, LongConsumer progress) {
    IndexCatalog.Stored at = from;
    long done = 0;
    while (!at.isComplete()) {
      IndexCatalog.Stored before = at;
      int[] count = new int[1];
      at = database.call(tx -> batch(tx, index, catalog, before, count));
      done += count[0];
      progress.accept(done);
    }
  }

  private IndexCatalog.Stored batch(
      Transaction tx, Maintained<V> index, Table catalog, IndexCatalog.Stored before, int[] count) {
    int most = Math.max(1, BATCH >> Math.min(16, tx.attempt() - 1)); // smaller after a conflict
    byte[] last = before.last();
    List<byte[]> keys = new ArrayList<>();
    try (Cursor cursor =
        tx.scan(rows, last == null ? null : Arrays.copyOf(last, last.length + 1), null)) {
      while (keys.size() < most && cursor.next()) {
        keys.add(cursor.key());
      }
    }
    for (byte[] key : keys) {
      byte[] value = tx.lockForUpdate(rows, key);
      // A row that has expired is removed, perhaps already to make room for another one of this
      // batch.
      if (value != null && !expired.remove(tx, key)) {
        Kept.Change change = index.change(null, decoder.apply(key, value));
        change.demandUnique(tx, key, expired);
        change.write(tx, key, value);
      }
    }
    count[0] = keys.size();
    IndexCatalog.Stored after =
        new IndexCatalog.Stored(
            before.version(),
            before.isUnique(),
            before.isCovering(),
            keys.size() < most,
            keys.size() < most ? null : keys.getLast());
    IndexCatalog.store(tx, catalog, rows.name(), index.name(), after);
    return after;
  }

  /** Drops an index, declared or not; returns whether there was one. */
  public boolean drop(String name) {
    indexes.changes().lock();
    try {
      return dropAlone(name);
    } finally {
      indexes.changes().unlock();
    }
  }

  private boolean dropAlone(String name) {
    Table catalog = database.findTable(IndexCatalog.TABLE);
    if (catalog == null) {
      return false;
    }
    String entries = IndexCatalog.entriesOf(rows.name(), name);
    boolean found =
        database.call(tx -> {
          @Nullable Table table = tx.findTable(entries);
          boolean isStored = IndexCatalog.find(tx, catalog, rows.name(), name) != null;
          IndexCatalog.remove(tx, catalog, rows.name(), name);
          if (table != null) { // what is kept without entries has none
            tx.dropTable(table);
          }
          return isStored;
        });
    indexes.remove(name);
    return found;
  }
}
