package org.revenantdb.engine;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.LittleEndian;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.engine.version.StoredValue;
import org.revenantdb.engine.version.Witness;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The tables of a database: a tree whose rows lead from a name to a table's id and root page.
 *
 * <p>A table comes into being by one record: its root, its space-map byte and its row (protocols.md
 * §13). Thread-safe.
 */
final class Catalog {
  /** Root page of the catalogue. */
  static final int ROOT = 4;

  /** Table id of the catalogue's own pages. */
  static final int TABLE = 0;

  private static final long CREATING = Long.MAX_VALUE;

  private static final int CREDIT = Split.CREDIT + 32 * 1024;

  /** Credit for pages: beside the splits the leaf, the root, and a space map for it. */
  private static final int PAGES = Split.PAGES + 3;

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
    StoredValue row = engine.reader().read(tree, key(name), Long.MAX_VALUE, 0, new Witness());
    return row == null ? null : remember(name, row.bytes());
  }

  private Table remember(String name, byte[] row) {
    int id = LittleEndian.getInt(row, 0);
    Tree found = new Tree(storage.pool(), id, LittleEndian.getInt(row, 4));
    byId.putIfAbsent(id, found);
    return byName.computeIfAbsent(name, n -> new Table(engine, n, found));
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
    RowScan scan =
        new RowScan(
            storage,
            engine.reader(),
            tree,
            Long.MAX_VALUE,
            () -> 0L,
            new Witness(),
            /* descending= */ false,
            null,
            null);
    List<RowScan.Row> batch = new ArrayList<>();
    for (scan.fill(batch); !batch.isEmpty(); scan.fill(batch)) {
      for (RowScan.Row row : batch) {
        action.accept(new String(row.key(), StandardCharsets.UTF_8), row.value().bytes());
      }
      batch.clear();
    }
  }

  /**
   * Creates a table unless there is one; returns the LSN that has to be durable, 0 if it was there.
   * Inside the gate.
   */
  long create(String name) {
    byte[] key = key(name);
    creating.lock();
    try {
      if (find(name) != null) {
        return 0;
      }
      int[] highest = {TABLE};
      forEach((n, row) -> highest[0] = Math.max(highest[0], LittleEndian.getInt(row, 0)));
      storage.space().acquire(CREDIT, PAGES);
      try {
        long before = createdAt;
        long lsn = before;
        createdAt = CREATING;
        try {
          lsn = create(key, highest[0] + 1);
        } finally {
          createdAt = lsn;
        }
        find(name);
        return lsn;
      } finally {
        storage.space().release(CREDIT, PAGES);
      }
    } finally {
      creating.unlock();
    }
  }

  private long create(byte[] key, int table) {
    BufferPool pool = storage.pool();
    MiniTransaction mini = new MiniTransaction(pool, storage.log());
    MapChanges maps = new MapChanges(pool);
    Split split =
        new Split(
            pool, storage.allocator(), storage.marks(), mini, maps, storage.counters().splits);
    SlottedBuilder empty = new SlottedBuilder();
    empty.begin(0, table, new byte[0], null);
    byte[] row = new byte[8];
    LittleEndian.putInt(row, 0, table);
    int root = storage.allocator().claim();
    LittleEndian.putInt(row, 4, root);
    byte[] cell = LeafCell.build(key, 0, 0, row);
    boolean logged = false;
    try {
      int leaf = split.leafWithRoom(tree, key, cell.length + Slotted.SLOT);
      try {
        MemorySegment page = pool.page(leaf);
        int frame = pool.fixNew(root);
        try {
          maps.clear();
          maps.set(root, SpaceMapPage.ALLOCATED);
          mini.begin(0);
          RecordBuilder record = mini.format(frame);
          PageOps.image(record, empty);
          mini.end();
          record = mini.change(leaf);
          PageOps.insert(record, -Slotted.search(page, key) - 1, cell);
          mini.end();
          maps.latchAndWrite(mini);
          long lsn = mini.commit();
          logged = true;
          return lsn;
        } finally {
          maps.unlatch();
          if (logged) {
            pool.unfixExclusive(frame);
          } else {
            pool.discard(frame);
          }
        }
      } finally {
        pool.unfixExclusive(leaf);
      }
    } finally {
      if (!logged) {
        storage.allocator().release(root);
      }
    }
  }

  private static byte[] key(String name) {
    byte[] key = name.getBytes(StandardCharsets.UTF_8);
    if (!name.equals(new String(key, StandardCharsets.UTF_8))) {
      throw new KeyException(
          "the name of a table has characters that are half of a pair, and have no UTF-8");
    }
    if (key.length == 0 || key.length > LeafCell.MAX_KEY) {
      throw new KeyException(
          "the name of a table has 1 to "
              + LeafCell.MAX_KEY
              + " bytes of UTF-8; this one has "
              + key.length);
    }
    return key;
  }
}
