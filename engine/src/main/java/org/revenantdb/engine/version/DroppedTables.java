package org.revenantdb.engine.version;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.TableRow;

/**
 * The dropped tables whose pages have not all been freed, as in the entries of the catalogue, and
 * the time from which on each may be removed.
 *
 * <p>Thread-safe. Threads that drop tables add them, the cleaner removes them.
 */
public final class DroppedTables {
  /*
   * State       of a table      not ready   before its record is published    -> ready, or removed if there is none
   *                             ready(lsn)  the cleaner may begin when no snapshot is below lsn, and lsn is durable
   *                             gone        the entry has left the catalogue
   *             Of a former life: ready(0), as no snapshot survives a restart.
   */
  private static final long NOT_READY = Long.MAX_VALUE;

  private final Storage storage;
  private final RowReader reader;
  private final Tree catalogue;
  private final Map<Integer, DroppedTable> tables = new ConcurrentSkipListMap<>();

  /** A dropped table. */
  public static final class DroppedTable {
    private final byte @Nullable [] name;
    private volatile TableRow trees;
    private volatile long droppedAt = NOT_READY;
    private boolean gone;

    DroppedTable(byte @Nullable [] name, TableRow trees) {
      this.name = name;
      this.trees = trees;
    }

    /** Called when the record that dropped it is published. */
    public void ready(long lsn) {
      droppedAt = lsn;
    }

    /** The trees that still exist. */
    TableRow trees() {
      return trees;
    }

    /** The key of its former row, if it was dropped in this life. */
    byte @Nullable [] name() {
      return name;
    }

    /** Called when the last tree was removed. */
    void lastTreeGone() {
      if (trees.trees() == 1) {
        gone = true;
      } else {
        trees = trees.withoutLast();
      }
    }

    boolean isGone() {
      return gone;
    }
  }

  /**
   * Makes an object without tables.
   *
   * @param catalogue the catalogue with the entries
   */
  public DroppedTables(Storage storage, RowReader reader, Tree catalogue) {
    this.storage = storage;
    this.reader = reader;
    this.catalogue = catalogue;
  }

  /**
   * Adds a table that is about to be dropped. Nothing happens to it before it is {@linkplain
   * DroppedTable#ready ready}.
   *
   * @param name the key of its row
   */
  public DroppedTable add(byte[] name, TableRow trees) {
    DroppedTable table = new DroppedTable(name, trees);
    tables.put(trees.id(0), table);
    return table;
  }

  /** Removes a table that was not dropped after all, or was removed completely. */
  public void remove(DroppedTable table) {
    tables.remove(table.trees().id(0), table);
  }

  /** Adds the tables that a former life has left. Called once, by the cleaner, inside the gate. */
  void load() {
    List<TableRow> entries = new ArrayList<>();
    RowScan.forEach(
        storage,
        reader,
        catalogue,
        DroppedTableRow.firstKey(),
        SequenceRow.firstKey(),
        (key, value) -> {
          TableRow trees = DroppedTableRow.of(key, value);
          if (trees != null) { // else a check reports it; its pages have leaked
            entries.add(trees);
          }
        });
    if (entries.isEmpty()) {
      return;
    }
    // After the entries: a table that was dropped before they were read has no row any more.
    Set<Integer> roots = new HashSet<>();
    Set<Integer> ids = new HashSet<>();
    RowScan.forEach(
        storage,
        reader,
        catalogue,
        new byte[0],
        DroppedTableRow.firstKey(),
        (key, value) -> {
          TableRow row = TableRow.of(value);
          for (int tree = 0; row != null && tree < row.trees(); tree++) {
            roots.add(row.root(tree));
            ids.add(row.id(tree));
          }
        });
    for (TableRow trees : entries) {
      boolean free = true; // an entry that leads to the pages of a table is damage, and stays
      for (int tree = 0; tree < trees.trees(); tree++) {
        free &= roots.add(trees.root(tree)) && ids.add(trees.id(tree));
      }
      if (free) {
        DroppedTable table = new DroppedTable(null, trees);
        table.ready(0);
        tables.putIfAbsent(trees.id(0), table); // this life may have dropped it
      }
    }
  }

  /** The catalogue's own tree. */
  Tree catalogue() {
    return catalogue;
  }

  /** The number of tables, ready or not. */
  public int count() {
    return tables.size();
  }

  /** Whether there are no tables, ready or not. */
  boolean isEmpty() {
    return tables.isEmpty();
  }

  /**
   * A table whose pages may be freed, from an id on.
   *
   * @param settled every snapshot is at or above it, and the log is durable up to it
   */
  @Nullable DroppedTable next(int id, long settled) {
    for (Map.Entry<Integer, DroppedTable> entry : tables.entrySet()) {
      if (entry.getKey() >= id && entry.getValue().droppedAt <= settled) {
        return entry.getValue();
      }
    }
    return null;
  }

  /** Whether a tree with this id belongs to a dropped table. */
  public boolean hasTree(int id) {
    for (DroppedTable table : tables.values()) {
      TableRow trees = table.trees;
      if (table.droppedAt != NOT_READY && id >= trees.id(0) && id <= trees.lastId()) {
        return true;
      }
    }
    return false;
  }
}
