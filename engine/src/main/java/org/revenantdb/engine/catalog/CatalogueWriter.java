package org.revenantdb.engine.catalog;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.version.DroppedTables;
import org.revenantdb.engine.version.Storage;

/**
 * Publishes records of the catalogue, and keeps the data in memory about trees consistent with
 * them: which trees exist, and which wait to be freed.
 *
 * <p>Threads: with the catalogue's lock; {@link #trees} may be read by any.
 */
public final class CatalogueWriter {
  /*
   * Failure     After a record memory has to follow: a failure there stops the engine (R18).
   */
  private final Storage storage;
  private final CatalogueTools tools;
  private final Tree catalogue;
  private final DroppedTables dropped;
  private final Map<Integer, Tree> trees = new ConcurrentHashMap<>();

  /**
   * The highest id of a tree that this life knows or has known: handles of removed tables still
   * contain theirs.
   */
  private int highestId;

  CatalogueWriter(Storage storage, Tree catalogue, DroppedTables dropped) {
    this.storage = storage;
    this.catalogue = catalogue;
    this.dropped = dropped;
    this.tools = CatalogueTools.of(storage);
  }

  /** The trees that are known, by their table ids. */
  Map<Integer, Tree> trees() {
    return trees;
  }

  /** Called when there is, or was, a tree with this id. */
  void knows(int id) {
    highestId = Math.max(highestId, id);
  }

  /**
   * Assigns ids that no tree has, or has had as far as this life knows. Returns the first of them.
   */
  int newIds(int count) {
    int first = Math.addExact(highestId, 1);
    highestId = Math.addExact(highestId, count); // an unused id does no harm
    return first;
  }

  /** The trees of a row. */
  public TableTrees treesOf(TableRow row, long since) {
    knows(row.lastId());
    Tree[] found = new Tree[row.trees()];
    for (int i = 0; i < found.length; i++) {
      int root = row.root(i);
      found[i] = trees.computeIfAbsent(row.id(i), id -> new Tree(storage.pool(), id, root));
    }
    return new TableTrees(List.of(found), since);
  }

  /**
   * Makes an empty record.
   *
   * @param transaction the transaction whose id it writes to the catalogue, 0 for none
   */
  CatalogueRecord record(long transaction) {
    return new CatalogueRecord(storage, tools, catalogue, transaction);
  }

  /**
   * Publishes a record.
   *
   * @param record publishes it, and returns its LSN, 0 if it was not published
   * @param after updates memory after that; fails only for lack of memory
   * @return the LSN
   */
  long publish(LongSupplier record, Runnable after) {
    long lsn = record.getAsLong();
    if (lsn != 0) {
      follow(after);
    }
    return lsn;
  }

  /**
   * The same, for a record that makes trees those of a dropped table: they belong to the cleaner
   * from then on.
   *
   * @param name the key of the table's former row
   */
  long publishDrop(LongSupplier record, byte[] name, TableRow garbage, Runnable after) {
    DroppedTables.DroppedTable entry = dropped.add(name, garbage); // before it can be found
    long lsn = 0;
    try {
      lsn = record.getAsLong();
    } finally {
      if (lsn == 0) {
        dropped.remove(entry);
      }
    }
    if (lsn != 0) {
      for (int i = 0; i < garbage.trees(); i++) {
        trees.remove(garbage.id(i));
      }
      follow(after);
      entry.ready(lsn); // from now on the cleaner may begin
    }
    return lsn;
  }

  private void follow(Runnable after) {
    try {
      after.run();
    } catch (Throwable failure) {
      storage.log().fail(failure);
      throw failure;
    }
  }
}
