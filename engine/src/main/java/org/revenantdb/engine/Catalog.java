package org.revenantdb.engine;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowBatch;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.engine.version.StoredValue;

/**
 * The tables of a database: a tree whose rows lead from a name to a table's id and root page, or
 * those of each of its partitions. Behind them are the rows of {@link Sequences}.
 *
 * <p>A table comes into being by one record: its roots, their space-map bytes and its row
 * (protocols.md §13, §22). Thread-safe.
 */
final class Catalog {
  /** Root page of the catalogue. */
  static final int ROOT = 4;

  /** Table id of the catalogue's own pages. */
  static final int TABLE = 0;

  private static final long CREATING = Long.MAX_VALUE;

  private final Engine engine;
  private final Storage storage;
  private final Tree tree;
  private final Map<String, Table> byName = new ConcurrentHashMap<>();
  private final Map<Integer, Tree> byId = new ConcurrentHashMap<>();
  private final ReentrantLock creating = new ReentrantLock();

  /**
   * LSN of the last record that created a table: before it is durable nobody is told of it (R10).
   * It is {@link #CREATING} from before that record is visible until its LSN is known.
   */
  private volatile long createdAt;

  Catalog(Engine engine) {
    this.engine = engine;
    this.storage = engine.storage();
    this.tree = new Tree(storage.pool(), TABLE, ROOT);
  }

  /** The catalogue's own tree. */
  Tree tree() {
    return tree;
  }

  /** A table, or null if there is none of this name. Inside the gate. */
  @Nullable Table find(String name) {
    Table known = byName.get(name);
    if (known != null) {
      return known;
    }
    StoredValue row = engine.reader().read(tree, key(name), new Reading(Long.MAX_VALUE));
    return row == null ? null : remember(name, row.bytes());
  }

  private Table remember(String name, byte[] bytes) {
    TableRow row = row(name, bytes);
    List<Tree> found = new ArrayList<>(row.trees());
    for (int i = 0; i < row.trees(); i++) {
      Tree each = new Tree(storage.pool(), row.id(i), row.root(i));
      found.add(each);
      byId.putIfAbsent(row.id(i), each);
    }
    return byName.computeIfAbsent(name, n -> new Table(engine, n, found));
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
  long createdAt() {
    long lsn = createdAt;
    if (lsn == CREATING) {
      creating.lock(); // until it is known
      try {
        return createdAt;
      } finally {
        creating.unlock();
      }
    }
    return lsn;
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
    forEach((name, row) -> tables.add(remember(name, row)));
    return tables;
  }

  /** The tree of a table id, or null if there is none. */
  @Nullable Tree tree(int table) {
    if (table == TABLE) {
      return tree;
    }
    Tree known = byId.get(table);
    if (known == null) {
      forEach(this::remember);
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
        SequenceRow.firstKey(),
        (key, row) -> action.accept(new String(key, StandardCharsets.UTF_8), row));
  }

  /** Is shown rows of the catalogue, of tables or not. */
  @FunctionalInterface
  interface KeyAction {
    /** A row. */
    void accept(byte[] key, byte[] row);
  }

  /**
   * Shows rows of the catalogue in the order of their keys. Inside the gate, or while it is paused.
   *
   * @param from first key, or null
   * @param to key behind the last, or null
   */
  void forEach(byte @Nullable [] from, byte @Nullable [] to, KeyAction action) {
    RowScan scan =
        new RowScan(
            storage,
            engine.reader(),
            tree,
            new Reading(Long.MAX_VALUE),
            /* descending= */ false,
            from,
            to);
    RowBatch batch = new RowBatch();
    for (scan.fill(batch); !batch.isEmpty(); scan.fill(batch)) {
      for (int row = 0; row < batch.size(); row++) {
        action.accept(batch.key(row), batch.value(row).bytes());
      }
    }
  }

  /**
   * Creates a table unless there is one of this name, with whatever options; returns the LSN that
   * has to be durable, 0 if it was there. Inside the gate.
   */
  long create(String name, TableOptions options) {
    byte[] key = key(name);
    creating.lock();
    try {
      if (find(name) != null) {
        return 0;
      }
      int[] highest = {TABLE};
      forEach((n, row) -> highest[0] = Math.max(highest[0], row(n, row).lastId()));
      long lsn = 0;
      try (TableCreation creation =
          new TableCreation(storage, tree, key, highest[0] + 1, options.partitions())) {
        creation.claim();
        for (lsn = publish(creation); lsn == 0; lsn = publish(creation)) {
          creation.makeRoom();
        }
      }
      find(name);
      return lsn;
    } finally {
      creating.unlock();
    }
  }

  /** The LSN of the table's record, or 0 if there is no room for it. */
  private long publish(TableCreation creation) {
    int credit = creation.credit();
    int pages = creation.pages();
    storage.space().acquire(credit, pages);
    try {
      long lsn = 0;
      long before = createdAt;
      createdAt = CREATING;
      try {
        lsn = creation.publish();
      } finally {
        createdAt = lsn == 0 ? before : lsn;
      }
      return lsn;
    } finally {
      storage.space().release(credit, pages);
    }
  }

  private static byte[] key(String name) {
    return Names.utf8("a table", name, LeafCell.MAX_KEY);
  }
}
