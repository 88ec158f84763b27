package org.revenantdb.engine;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.version.DroppedTables;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.engine.version.StoredValue;

/**
 * The tables of a database: a tree whose rows lead from a name to a table's id and root page, or
 * those of each of its partitions. Behind them are the entries of tables that were dropped, and the
 * rows of {@link Sequences}.
 *
 * <p>A table comes into being by one record: its roots, their space-map bytes and its row
 * (protocols.md §13, §22); it is dropped by one that has an entry in place of the row (§24).
 * Thread-safe.
 */
final class Catalog {
  /** Root page of the catalogue. */
  static final int ROOT = 5;

  /** Table id of the catalogue's own pages. */
  static final int TABLE = 0;

  private static final long CHANGING = Long.MAX_VALUE;

  private final Engine engine;
  private final Storage storage;
  private final Tree tree;
  private final Map<String, Table> byName = new ConcurrentHashMap<>();
  private final Map<Integer, Tree> byId = new ConcurrentHashMap<>();
  private final DroppedTables dropped;

  /**
   * Held to create, to drop, and to look into the catalogue for what is then remembered: a table is
   * not remembered from a row that a drop has taken away meanwhile.
   */
  private final ReentrantLock changing = new ReentrantLock();

  /** Used under {@link #changing}. */
  private final CatalogueTools tools;

  /**
   * The highest id that a tree of this life has, or had, for handles of dropped tables name theirs;
   * before the first table is created, of those that were used by then. With the lock.
   */
  private int highestId = TABLE;

  private boolean idsAreKnown;

  /**
   * LSN of the last record that created or dropped a table: before it is durable nobody is told of
   * that (R10). It is {@link #CHANGING} from before that record is visible until its LSN is known.
   */
  private volatile long changedAt;

  /** The same for each name, until that record is known to be durable. */
  private final Map<String, Long> changes = new ConcurrentHashMap<>();

  Catalog(Engine engine) {
    this.engine = engine;
    this.storage = engine.storage();
    this.tools = CatalogueTools.of(storage);
    this.tree = new Tree(storage.pool(), TABLE, ROOT);
    this.dropped = new DroppedTables(storage, engine.reader(), tree);
  }

  /** The catalogue's own tree. */
  Tree tree() {
    return tree;
  }

  /** The tables that were dropped and have pages yet. */
  DroppedTables dropped() {
    return dropped;
  }

  /** A table, or null if there is none of this name. Inside the gate. */
  @Nullable Table find(String name) {
    Table known = byName.get(name);
    if (known != null) {
      return known;
    }
    byte[] key = key(name);
    changing.lock();
    try {
      StoredValue row = engine.reader().read(tree, key, new Reading(Long.MAX_VALUE));
      return row == null ? null : remember(name, row.bytes());
    } finally {
      changing.unlock();
    }
  }

  /** With the lock held since the row was read. */
  private Table remember(String name, byte[] bytes) {
    TableRow row = row(name, bytes);
    List<Tree> found = new ArrayList<>(row.trees());
    for (int i = 0; i < row.trees(); i++) {
      int root = row.root(i);
      found.add(byId.computeIfAbsent(row.id(i), id -> new Tree(storage.pool(), id, root)));
    }
    return byName.computeIfAbsent(name, n -> new Table(engine, n, found, changing));
  }

  private TableRow row(String name, byte[] bytes) {
    TableRow row = TableRow.of(bytes);
    if (row == null) {
      throw storage
          .pool()
          .damage(
              ROOT,
              "below here, in the catalogue, the row of table "
                  + name
                  + ", of "
                  + bytes.length
                  + " bytes, makes no sense");
    }
    return row;
  }

  /** How far the log has to be durable before anyone is told which tables there are. */
  long changedAt() {
    long lsn = changedAt;
    if (lsn == CHANGING) {
      changing.lock(); // until it is known
      try {
        return changedAt;
      } finally {
        changing.unlock();
      }
    }
    return lsn;
  }

  /**
   * How far the log has to be durable before anyone is told whether there is a table of this name.
   * To be asked for after that was looked up; {@link #isDurable} is to be told.
   */
  long changedAt(String name) {
    Long lsn = changes.get(name);
    if (lsn != null && lsn == CHANGING) {
      changing.lock(); // until it is known
      try {
        lsn = changes.get(name);
      } finally {
        changing.unlock();
      }
    }
    return lsn == null ? 0 : lsn;
  }

  /** The log is durable as far as {@link #changedAt(String)} said: nothing has to be kept of it. */
  void isDurable(String name, long lsn) {
    changes.remove(name, lsn);
  }

  /** The names of all tables, in order. Inside the gate. */
  List<String> names() {
    List<String> names = new ArrayList<>();
    forEach((name, row) -> names.add(name));
    return names;
  }

  /** All tables. Inside the gate, or while it is paused. */
  List<Table> tables() {
    List<Table> tables = new ArrayList<>();
    changing.lock();
    try {
      forEach((name, row) -> tables.add(remember(name, row)));
    } finally {
      changing.unlock();
    }
    return tables;
  }

  /** The tree of a table id, or null if there is none, or its table was dropped. */
  @Nullable Tree tree(int table) {
    if (table == TABLE) {
      return tree;
    }
    Tree known = byId.get(table);
    if (known == null && !dropped.hasTree(table)) {
      tables();
      known = byId.get(table);
    }
    return known;
  }

  @FunctionalInterface
  private interface RowAction {
    void accept(String name, byte[] row);
  }

  private void forEach(RowAction action) {
    forEach(
        null,
        DroppedTableRow.firstKey(),
        (key, row) -> action.accept(new String(key, StandardCharsets.UTF_8), row));
  }

  /**
   * Shows rows of the catalogue in the order of their keys. Inside the gate, or while it is paused.
   *
   * @param from first key, or null
   * @param to key behind the last, or null
   */
  void forEach(byte @Nullable [] from, byte @Nullable [] to, RowScan.RowAction action) {
    RowScan.forEach(storage, engine.reader(), tree, from, to, action);
  }

  /**
   * Creates a table unless there is one of this name, with whatever options; returns the LSN that
   * has to be durable, 0 if it was there. Inside the gate.
   */
  long create(String name, TableOptions options) {
    byte[] key = key(name);
    changing.lock();
    try {
      if (find(name) != null) {
        return 0;
      }
      long lsn = 0;
      try (TableCreation creation =
          new TableCreation(storage, tools, tree, key, nextId(), options.partitions())) {
        creation.claim();
        for (lsn = publish(name, creation); lsn == 0; lsn = publish(name, creation)) {
          creation.makeRoom();
        }
      }
      highestId += options.partitions();
      find(name);
      return lsn;
    } finally {
      changing.unlock();
    }
  }

  /** An id above all that trees have, or had in this life, those of dropped tables among them. */
  private int nextId() {
    if (idsAreKnown) {
      return highestId + 1;
    }
    forEach((name, row) -> highestId = Math.max(highestId, row(name, row).lastId()));
    forEach(
        DroppedTableRow.firstKey(),
        SequenceRow.firstKey(),
        (key, bytes) -> {
          TableRow row = DroppedTableRow.of(key, bytes);
          highestId = row == null ? highestId : Math.max(highestId, row.lastId());
        });
    idsAreKnown = true;
    return highestId + 1;
  }

  /** The LSN of the table's record, or 0 if there is no room for it. */
  private long publish(String name, TableCreation creation) {
    int credit = creation.credit();
    int pages = creation.pages();
    storage.space().acquire(credit, pages);
    try {
      return publish(name, creation::publish);
    } finally {
      storage.space().release(credit, pages);
    }
  }

  private long publish(String name, LongSupplier record) {
    long lsn = 0;
    long before = changedAt;
    Long beforeOfName = changes.put(name, CHANGING);
    changedAt = CHANGING;
    try {
      lsn = record.getAsLong();
    } finally {
      changedAt = lsn == 0 ? before : lsn;
      if (lsn != 0) {
        changes.put(name, lsn);
      } else if (beforeOfName != null) {
        changes.put(name, beforeOfName);
      } else {
        changes.remove(name);
      }
    }
    return lsn;
  }

  /**
   * Drops a table that no open transaction has written to, nor will; false if somebody else has.
   * Inside the gate.
   */
  boolean drop(Table table) {
    String name = table.name();
    byte[] key = key(name);
    changing.lock();
    try {
      if (!table.equals(byName.get(name))) {
        return false;
      }
      List<Tree> trees = table.trees();
      highestId = Math.max(highestId, trees.getLast().table());
      TableRow row =
          new TableRow(trees.getFirst().table(), trees.stream().mapToInt(Tree::root).toArray());
      TableDrop drop = new TableDrop(storage, tools, tree, key, row);
      DroppedTables.DroppedTable entry = dropped.add(key, row);
      long lsn = 0;
      try {
        for (lsn = publish(table, drop); lsn == 0; lsn = publish(table, drop)) {
          drop.makeRoom();
        }
      } finally {
        if (lsn == 0) {
          dropped.remove(entry);
        }
      }
      byName.remove(name);
      trees.forEach(each -> byId.remove(each.table()));
      entry.ready(lsn); // from now on the cleaner may begin
      return true;
    } finally {
      changing.unlock();
    }
  }

  /** The LSN of the record that drops the table, or 0 if there is no room for it. */
  private long publish(Table table, TableDrop drop) {
    storage.space().acquire(drop.credit(), drop.pages());
    try {
      long lsn = 0;
      table.publishing(storage.log().tail());
      try {
        lsn = publish(table.name(), drop::publish);
      } finally {
        table.published(lsn);
      }
      return lsn;
    } finally {
      storage.space().release(drop.credit(), drop.pages());
    }
  }

  private static byte[] key(String name) {
    return Names.utf8("a table", name, LeafCell.MAX_KEY);
  }
}
