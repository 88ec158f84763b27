package org.revenantdb.engine.catalog;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.SlogEntry;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.serial.Commit;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.version.Cleaner;
import org.revenantdb.engine.version.DroppedTables;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.engine.version.StoredValue;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.FileException;

/**
 * The tables of a database: a tree whose rows lead from a name to a table's id and root page, or
 * those of each of its partitions. After them come the entries of dropped tables, and the rows of
 * {@link Sequences}.
 *
 * <p>One record creates a table: its roots, their space-map bytes and its row (protocols.md §13,
 * §22). One record drops it: it replaces the row by an entry (§24). The changes of transactions to
 * tables are in the {@link Slog}. Thread-safe.
 */
public final class Catalog implements Cleaner.Tables {
  /** Root page of the catalogue. */
  public static final int ROOT = 5;

  /** Table id of the catalogue's own pages. */
  public static final int TABLE = 0;

  private static final long CHANGING = Long.MAX_VALUE;

  private final CatalogueOwner owner;
  private final Storage storage;
  private final Tree tree;
  private final Map<String, Table> byName = new ConcurrentHashMap<>();
  private final DroppedTables dropped;

  /** The tables whose trees were listed last, by the ids of the trees. */
  private volatile Map<Integer, String> namesOfTrees = Map.of();

  /**
   * Held to create, drop and truncate tables, and to read rows of the catalogue that are then
   * cached. So a table is never cached from a row that a drop has removed meanwhile.
   */
  private final PatientLock changing = new PatientLock();

  /** Used under {@link #changing}. */
  private final CatalogueWriter writer;

  private final Slog slog;

  /**
   * Whether the entries of former lives in {@link #slog} are known. Until then no transaction is
   * forgotten.
   */
  private volatile boolean isLoaded;

  /** Rows that share trees with another row; null until they were searched. With the lock. */
  private @Nullable SharedTrees shared;

  /** Whether the ids of all rows and entries are known to {@link #writer}; with the lock. */
  private boolean idsAreKnown;

  /**
   * The LSN of the last record that created, dropped or truncated a table. No caller learns of the
   * change before the record is durable (R10). It is {@link #CHANGING} from before that record is
   * visible until its LSN is known.
   */
  private volatile long changedAt;

  /** The same for each name, until that record is known to be durable. */
  private final Map<String, AtomicLong> changes = new ConcurrentHashMap<>();

  public Catalog(CatalogueOwner owner) {
    this.owner = owner;
    this.storage = owner.storage();
    this.tree = new Tree(storage.pool(), TABLE, ROOT);
    this.dropped = new DroppedTables(storage, owner.reader(), tree);
    this.writer = new CatalogueWriter(storage, tree, dropped);
    this.slog = new Slog(writer, this::demandOwnTreesOf);
  }

  /** The catalogue's own tree. */
  public Tree tree() {
    return tree;
  }

  /** The dropped tables that still have pages. */
  public DroppedTables dropped() {
    return dropped;
  }

  /** A table, or null if there is none of this name. Inside the gate. */
  public @Nullable Table find(String name) {
    Table known = byName.get(name);
    if (known != null) {
      return known;
    }
    byte[] key = key(name);
    changing.lock();
    try {
      load();
      demandOwnTrees(name);
      NameChange change = slog.of(name);
      if (change != null) {
        return remember(name, change.visible());
      }
      StoredValue row = owner.reader().read(tree, key, new Reading(Long.MAX_VALUE));
      return row == null ? null : remember(name, row(name, row.bytes()));
    } finally {
      changing.unlock();
    }
  }

  /** Caches a table. The lock has been held since the row was read. */
  private @Nullable Table remember(String name, @Nullable TableRow row) {
    return row == null
        ? null
        : byName.computeIfAbsent(
            name,
            n -> new TableState(owner, n, writer.treesOf(row, /* since= */ 0), changing).face());
  }

  /**
   * Refuses a table if another row or entry also leads to one of its trees: both would write it.
   * The first call reads the whole catalogue. With the lock.
   */
  private void demandOwnTrees(String name) {
    SharedTrees known = shared;
    if (known == null) {
      known = SharedTrees.find(storage, owner.reader(), tree);
      shared = known;
    }
    known.demandNone(name);
  }

  private void demandOwnTreesOf(String name) {
    changing.lock();
    try {
      demandOwnTrees(name);
    } finally {
      changing.unlock();
    }
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
                  + " bytes, cannot be decoded");
    }
    return row;
  }

  /** The position up to which the log must be durable before a caller learns which tables exist. */
  public long changedAt() {
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
   * The position up to which the log must be durable before a caller learns whether there is a
   * table of this name. Call it after the lookup, and call {@link #isDurable} when that position is
   * durable.
   */
  public long changedAt(String name) {
    long lsn = lastChange(name);
    if (lsn == CHANGING) {
      changing.lock(); // until it is known
      try {
        return lastChange(name);
      } finally {
        changing.unlock();
      }
    }
    return lsn;
  }

  private long lastChange(String name) {
    AtomicLong at = changes.get(name);
    return at == null ? 0 : at.get();
  }

  /**
   * Called when the log is durable up to the result of {@link #changedAt(String)}: the entry is
   * removed.
   */
  public void isDurable(String name, long lsn) {
    AtomicLong at = changes.get(name);
    if (at != null && at.get() == lsn) {
      changes.remove(name, at);
    }
  }

  /** The names of all tables, in order. Inside the gate. */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    changing.lock(); // else a row may be there without its change, or a change without its row
    try {
      forEach((name, row) -> names.add(name));
    } finally {
      changing.unlock();
    }
    return names;
  }

  /** All tables. Inside the gate, or while it is paused. */
  List<Table> tables() {
    List<Table> tables = new ArrayList<>();
    changing.lock();
    try {
      forEach((name, row) -> {
        demandOwnTrees(name);
        tables.add(Objects.requireNonNull(remember(name, row(name, row))));
      });
    } finally {
      changing.unlock();
    }
    return tables;
  }

  /**
   * All trees except those of dropped tables, including trees that only one transaction sees.
   * Inside the gate.
   */
  public List<Tree> trees() {
    namesOfTrees = namesByTree(tables()); // then they are known
    List<Tree> trees = new ArrayList<>(List.of(tree));
    trees.addAll(writer.trees().values());
    return trees;
  }

  private static Map<Integer, String> namesByTree(List<Table> tables) {
    Map<Integer, String> names = new HashMap<>();
    for (Table table : tables) {
      TableState.of(table).newest().all().forEach(tree -> names.put(tree.table(), table.name()));
    }
    return names;
  }

  /** The tree of a table id, or null if there is none, or its table was dropped. */
  public @Nullable Tree tree(int table) {
    if (table == TABLE) {
      return tree;
    }
    Tree known = writer.trees().get(table);
    if (known == null && !dropped.hasTree(table)) {
      tables();
      known = writer.trees().get(table);
    }
    return known;
  }

  @FunctionalInterface
  private interface RowAction {
    void accept(String name, byte[] row);
  }

  /** Visits the table of each name that all transactions see; with the lock. */
  private void forEach(RowAction action) {
    load();
    forEach(
        null,
        DroppedTableRow.firstKey(),
        (key, row) -> {
          String name = new String(key, StandardCharsets.UTF_8);
          NameChange change = slog.of(name);
          if (change == null) {
            action.accept(name, row);
          } else if (change.visible() != null) {
            action.accept(name, change.visible().bytes());
          }
        });
  }

  /**
   * Visits rows of the catalogue in key order. Inside the gate, or while it is paused.
   *
   * @param from first key, or null
   * @param to the end, exclusive, or null
   */
  void forEach(byte @Nullable [] from, byte @Nullable [] to, RowScan.RowAction action) {
    RowScan.forEach(storage, owner.reader(), tree, from, to, action);
  }

  /**
   * Creates a table unless there is one of this name, whatever its options. Returns the LSN that
   * must become durable, 0 if the table existed. Inside the gate.
   */
  public long create(String name, TableOptions options) {
    byte[] key = key(name);
    changing.lock();
    try {
      load();
      slog.finish(name);
      if (find(name) != null) {
        return 0;
      }
      demandUnchanged(name);
      try (NewTrees trees = newTrees(options.partitions())) {
        TableRow row = trees.claim();
        CatalogueRecord record = writer.record(0).insert(key, row.bytes());
        return change(
            name,
            () ->
                writer.publish(
                    () -> record.publish(trees, publish -> inOrder(name, null, publish)),
                    () -> remember(name, row)));
      }
    } finally {
      changing.unlock();
    }
  }

  /**
   * As {@link #create}, for a caller that needs this very table. Inside the gate.
   *
   * @return the table, or null if there was one of this name
   */
  public @Nullable Table createNew(String name, TableOptions options) {
    changing.lock();
    try {
      return create(name, options) == 0 ? null : find(name);
    } finally {
      changing.unlock();
    }
  }

  /** Refuses a name whose table is being changed by a transaction that has not ended. */
  public void demandUnchanged(String name) {
    NameChange change = slog.of(name);
    if (change != null) {
      throw owner.inUse(name, change);
    }
  }

  /** Trees for a new table; with the lock. */
  public NewTrees newTrees(int count) {
    if (!idsAreKnown) {
      forEach((name, row) -> writer.knows(row(name, row).lastId()));
      forEach(
          DroppedTableRow.firstKey(),
          SequenceRow.firstKey(),
          (key, bytes) -> {
            SlogEntry entry = SlogEntry.of(key, bytes);
            TableRow row = entry != null ? entry.trees() : DroppedTableRow.of(key, bytes);
            if (row != null) {
              writer.knows(row.lastId());
            }
          });
      idsAreKnown = true;
    }
    return new NewTrees(storage, writer.newIds(count), count);
  }

  /**
   * Announces that the tables of some names are about to change for all. Until {@link #end},
   * callers that ask about these names wait for the lock. With the lock.
   */
  public final class Announcement {
    /*
     * The end allocates nothing: callers wait until it has come, so it must not fail. All names of a
     * change have the same number, which is set when the LSN is known.
     */
    private final AtomicLong changed = new AtomicLong(CHANGING);
    private final String[] names;
    private final @Nullable AtomicLong[] before;
    private final long changedBefore = changedAt;
    private int count;

    private Announcement(Collection<String> names) {
      this.names = names.toArray(String[]::new);
      this.before = new AtomicLong[this.names.length];
      long durable = storage.log().durableLsn();
      changes.values().removeIf(at -> at.get() <= durable); // no caller has to wait for those
      boolean done = false;
      try {
        for (String name : this.names) {
          before[count] = changes.get(name);
          changes.put(name, changed);
          count++;
        }
        changedAt = CHANGING;
        done = true;
      } finally {
        if (!done) {
          end(0);
        }
      }
    }

    /** Called when the change was made, by the record with this LSN; 0: it was not made. */
    public void end(long lsn) {
      changedAt = lsn == 0 ? changedBefore : lsn;
      if (lsn != 0) {
        changed.set(lsn);
        return;
      }
      for (int i = count - 1; i >= 0; i--) {
        AtomicLong former = before[i];
        if (former == null) {
          changes.remove(names[i]);
        } else {
          changes.replace(names[i], former);
        }
      }
    }
  }

  /** Announces that the tables of some names are about to change. */
  public Announcement announce(Collection<String> names) {
    return new Announcement(names);
  }

  /** Runs the change of a name's table for all: it returns its LSN, or throws. */
  private long change(String name, LongSupplier record) {
    Announcement told = announce(List.of(name));
    long lsn = 0;
    try {
      lsn = record.getAsLong();
      return lsn;
    } finally {
      told.end(lsn);
    }
  }

  /**
   * Publishes a record that changes the table of a name, in its place among commits; with credit in
   * hand and nothing latched.
   *
   * @param gone the former trees of the table; null if there was none
   */
  private long inOrder(String name, @Nullable TableRow gone, LongSupplier record) {
    Certifier certifier = owner.certifier();
    long pass = certifier.enterAlways();
    try {
      LongFunction<Commit> commit = at -> commit(at, name, gone); // before the record
      long lsn = record.getAsLong();
      if (lsn != 0) {
        certifier.committed(pass, commit, lsn);
      }
      return lsn;
    } finally {
      certifier.leave(pass);
    }
  }

  private static Commit commit(long lsn, String name, @Nullable TableRow gone) {
    List<Integer> trees =
        gone == null ? List.of() : IntStream.range(0, gone.trees()).mapToObj(gone::id).toList();
    return new Commit(lsn, List.of(), /* isKnown= */ true, trees, List.of(name));
  }

  /** The result of {@link #drop}. */
  public enum Dropped {
    DONE,

    /** Another thread has dropped it. */
    GONE,

    /** A transaction is changing it, and holds it. */
    HELD
  }

  /**
   * Drops a table to which no open transaction has written or will write, for all at once. Inside
   * the gate.
   */
  public Dropped drop(Table table) {
    String name = table.name();
    byte[] key = key(name);
    changing.lock();
    try {
      slog.finish(name);
      if (!table.equals(byName.get(name))) {
        return Dropped.GONE;
      }
      if (slog.of(name) != null) {
        return Dropped.HELD;
      }
      TableTrees trees = TableState.of(table).newest();
      TableRow row = trees.row();
      CatalogueRecord record =
          writer.record(0).remove(key).insert(DroppedTableRow.key(row.id(0)), row.bytes());
      change(
          name,
          () -> {
            long lsn = 0;
            try {
              lsn =
                  writer.publishDrop(
                      () ->
                          record.publish(
                              null,
                              publish -> {
                                trees.ending(storage.log().tail());
                                return inOrder(name, row, publish);
                              }),
                      key,
                      row,
                      () -> byName.remove(name));
              return lsn;
            } finally {
              trees.ended(lsn);
            }
          });
      return Dropped.DONE;
    } finally {
      changing.unlock();
    }
  }

  /** The lock that is held to change which tables exist. */
  public Lock changing() {
    return changing;
  }

  /** The changes of transactions to tables; with the lock. */
  public Slog slog() {
    return slog;
  }

  /** With the lock. */
  public CatalogueWriter writer() {
    return writer;
  }

  /** Sets the table of a name, or, with null, removes it; with the lock. */
  public void lead(String name, @Nullable Table table) {
    if (table == null) {
      byName.remove(name);
    } else {
      byName.put(name, table);
    }
  }

  /**
   * Finds the unfinished changes of transactions of former lives to tables. Called after redo,
   * before any other use of the catalogue. If the catalogue cannot be read, a caller that needs it
   * tries again.
   */
  public void load() {
    changing.lock();
    try {
      if (!isLoaded) {
        List<SlogEntry> entries = new ArrayList<>();
        forEach(
            DroppedTableRow.firstKey(),
            SequenceRow.firstKey(),
            (key, value) -> {
              SlogEntry entry = SlogEntry.of(key, value);
              if (entry != null) {
                entries.add(entry);
              }
            });
        slog.load(entries, storage.transactions().aborted()::contains); // all of them, or none
        isLoaded = true;
      }
    } finally {
      changing.unlock();
    }
  }

  @Override
  public boolean holds(long transaction) {
    return !isLoaded || slog.holds(transaction);
  }

  @Override
  public boolean moveRoot(Tree moved, int limit) {
    String name = namesOfTrees.get(moved.table());
    if (name == null) {
      return false; // the row of the catalogue itself, or of a table that is new, or was truncated
    }
    changing.lock();
    try {
      Table table = byName.get(name);
      if (table == null || slog.of(name) != null) {
        return false;
      }
      TableTrees trees = TableState.of(table).newest();
      int number = trees.all().indexOf(moved);
      if (number < 0) {
        return false;
      }
      try (MovedRoot root = new MovedRoot(storage, moved)) {
        if (!root.claimBelow(limit)) {
          return false;
        }
        TableRow row = trees.row().withRoot(number, root.page());
        writer.record(0).replace(key(name), row.bytes()).publish(root);
      }
      return true;
    } finally {
      changing.unlock();
    }
  }

  @Override
  public List<Unit> units() {
    return trees().stream().map(Tree::unit).toList();
  }

  @Override
  public boolean finish() {
    if (!hasUnfinished() || owner.options().readOnly()) {
      return true;
    }
    changing.lock();
    try {
      load();
      slog.finishSettled(/* waits= */ true);
    } catch (FileException unreadable) {
      if (storage.log().failure() != null) {
        throw unreadable;
      }
    } finally {
      changing.unlock();
    }
    return !hasUnfinished();
  }

  @Override
  public boolean hasUnfinished() {
    return !isLoaded || slog.hasSettled();
  }

  public static byte[] key(String name) {
    return Names.utf8("a table", name, LeafCell.MAX_KEY);
  }
}
