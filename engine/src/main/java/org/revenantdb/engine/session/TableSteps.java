package org.revenantdb.engine.session;

import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.catalog.NameChange;
import org.revenantdb.engine.catalog.NewTrees;
import org.revenantdb.engine.catalog.Slog;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.catalog.TableTrees;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.gc.SnapshotSet;

/**
 * Creates, drops and truncates tables as part of a transaction.
 *
 * <p>Thread-safe; the state of a transaction belongs to it. Called inside the gate, except {@link
 * #exclusively}.
 */
public final class TableSteps {
  /*
   * Protocol    docs/protocols.md §31.
   */
  /** The end of the trees of a table that never existed: below every snapshot. */
  private static final long NOBODYS = 1;

  private final Engine engine;
  private final Storage storage;
  private final Catalog catalog;
  private final TableDrops drops;
  private final Lock changing;

  public TableSteps(Engine engine, Catalog catalog) {
    this.engine = engine;
    this.storage = engine.storage();
    this.catalog = catalog;
    this.drops = new TableDrops(engine, catalog);
    this.changing = catalog.changing();
  }

  /** The tables that all transactions see. */
  public Catalog catalog() {
    return catalog;
  }

  /** The drops, which wait for the writers of a table. */
  public TableDrops drops() {
    return drops;
  }

  /** A table as seen by a transaction that has changed tables; null if there is none. */
  @Nullable Table find(@Nullable OwnTables own, String name) {
    Table mine = own == null ? null : own.named(name);
    if (mine != null) {
      return mine;
    }
    Table table = catalog.find(name);
    boolean isDropped = own != null && table != null && own.has(table);
    return isDropped ? null : table;
  }

  /** LSN of the last record that created, dropped or truncated a table. */
  long changedAt() {
    return catalog.changedAt();
  }

  /**
   * The position up to which the log must be durable before a caller learns whether the table
   * exists.
   */
  long changedAt(String name) {
    return catalog.changedAt(name);
  }

  /** Creates a table. */
  Table create(TransactionCore core, OwnTables own, String name, TableOptions options) {
    byte[] key = Catalog.key(name);
    changing.lock();
    try {
      catalog.load();
      core.witness().saw(catalog.changedAt(name));
      catalog.slog().finish(name);
      demandNone(core, name);
      try (NewTrees trees = catalog.newTrees(options.partitions())) {
        TableRow row = trees.claim();
        Table[] created = new Table[1];
        catalog
            .slog()
            .create(
                name,
                key,
                core.id(),
                row,
                trees,
                () -> {
                  TableTrees made = catalog.writer().treesOf(row, TableTrees.NEVER);
                  created[0] = new TableState(engine, name, made, changing).face();
                  TablesSeen.hold(core, created[0]);
                  own.put(created[0], made);
                });
        return created[0];
      }
    } finally {
      changing.unlock();
    }
  }

  private void demandNone(TransactionCore core, String name) {
    NameChange change = catalog.slog().of(name);
    if (change != null && change.transaction() != core.id()) {
      catalog.demandUnchanged(name);
    }
    if (change != null && change.created() == null) {
      throw new CatalogException(
          CatalogException.Reason.EXISTS,
          "this transaction has dropped a table "
              + name
              + ", whose name is free only after the commit; truncate that table instead, or create the new one in another transaction");
    }
    if (change != null || catalog.find(name) != null) {
      throw new CatalogException(
          CatalogException.Reason.EXISTS,
          "there is a table " + name + " already; drop it first, or take another name");
    }
  }

  /** A change of a table to which no other transaction may write. */
  @FunctionalInterface
  interface Step {
    /** Makes the change; false if another transaction has changed the table and has not ended. */
    boolean run(TransactionCore core, OwnTables own, Table table);
  }

  /**
   * Runs a step when no other transaction writes to the table, or will before this one has ended.
   * Called outside of the gate, with nothing latched.
   *
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if this would never happen
   */
  void exclusively(TransactionCore core, OwnTables own, Table table, Step step) {
    if (own.has(table)) {
      engine.inside(() -> step.run(core, own, table));
    } else {
      drops.exclusively(table, core, own, () -> step.run(core, own, table));
    }
  }

  /** Drops a table. */
  public boolean drop(TransactionCore core, OwnTables own, Table table) {
    String name = table.name();
    byte[] key = Catalog.key(name);
    Slog slog = catalog.slog();
    Runnable after = () -> own.put(table, null);
    changing.lock();
    try {
      if (own.has(table)) {
        TablesSeen.demandThere(core, table);
        slog.dropCreated(name, made(slog, name), after);
        return true;
      }
      slog.finish(name);
      TablesSeen.demandNewest(core, table);
      if (slog.of(name) != null) {
        return false;
      }
      holding(
          core,
          table,
          () -> slog.drop(name, key, core.id(), TableState.of(table).newest().row(), after));
      return true;
    } finally {
      changing.unlock();
    }
  }

  /** Truncates a table. */
  public boolean truncate(TransactionCore core, OwnTables own, Table table) {
    String name = table.name();
    byte[] key = Catalog.key(name);
    Slog slog = catalog.slog();
    changing.lock();
    try {
      if (own.has(table)) {
        TablesSeen.demandThere(core, table);
        truncate(
            own,
            table,
            (row, trees, after) -> slog.truncateCreated(made(slog, name), row, trees, after));
        return true;
      }
      slog.finish(name);
      TablesSeen.demandNewest(core, table);
      if (slog.of(name) != null) {
        return false;
      }
      holding(
          core,
          table,
          () ->
              truncate(
                  own,
                  table,
                  (row, trees, after) ->
                      slog.truncate(
                          name,
                          key,
                          core.id(),
                          TableState.of(table).newest().row(),
                          row,
                          trees,
                          after)));
      return true;
    } finally {
      changing.unlock();
    }
  }

  /** The change that gives a table new trees. */
  @FunctionalInterface
  private interface Truncation {
    void run(TableRow row, NewTrees trees, Runnable after);
  }

  private void truncate(OwnTables own, Table table, Truncation truncation) {
    try (NewTrees trees = catalog.newTrees(table.options().partitions())) {
      TableRow row = trees.claim();
      truncation.run(
          row, trees, () -> own.put(table, catalog.writer().treesOf(row, TableTrees.NEVER)));
    }
  }

  /** Runs a step on a table, after entering the table; after a failure the holds are as before. */
  private static void holding(TransactionCore core, Table table, Runnable step) {
    boolean isNew = TablesSeen.hold(core, table);
    boolean done = false;
    try {
      step.run();
      done = true;
    } finally {
      if (isNew && !done) {
        TablesSeen.letGo(core);
      }
    }
  }

  private static NameChange made(Slog slog, String name) {
    NameChange change = slog.of(name);
    if (change == null) {
      throw new IllegalStateException("nobody has made a table " + name);
    }
    return change;
  }

  /**
   * Commits a transaction that has changed tables.
   *
   * @param commit publishes COMMIT, and returns its LSN; if it throws the transaction has ended
   */
  void commit(TransactionCore core, OwnTables own, LongSupplier commit) {
    changing.lock();
    try {
      Map<String, NameChange> changes = catalog.slog().changesOf(core.id());
      Catalog.Announcement told = catalog.announce(changes.keySet());
      long lsn = 0;
      try {
        forEachFormer(own, trees -> trees.ending(storage.log().tail()));
        lsn = commit.getAsLong();
      } finally {
        if (core.isOpen()) {
          forEachFormer(
              own, trees -> trees.ended(0)); // because of no memory; the transaction goes on
          told.end(0);
        } else {
          settle(own, changes, told, lsn);
        }
      }
      tidy(own);
    } finally {
      changing.unlock();
      if (!core.isOpen()) {
        own.end();
      }
    }
  }

  /** Called after a transaction that has changed tables has aborted and this is visible. */
  void rollBack(OwnTables own, long transaction) {
    changing.lock();
    try {
      settle(own, catalog.slog().changesOf(transaction), null, /* lsn= */ 0);
      tidy(own);
    } catch (VirtualMachineError failure) {
      storage.log().fail(failure); // no other thread would ever end it
      throw failure;
    } finally {
      changing.unlock();
      own.end();
    }
  }

  /** Runs after the outcome: work that can wait, and must not prevent the outcome. */
  private void tidy(OwnTables own) {
    catalog.slog().finishSettled(/* waits= */ false);
    try {
      SnapshotSet snapshots = storage.horizon().refresh();
      own.forEach((table, now) -> TableState.of(table).newest().forgetFormer(snapshots));
    } catch (OutOfMemoryError later) {
      // at the next truncation
    }
  }

  private static void forEachFormer(OwnTables own, Consumer<TableTrees> action) {
    own.forEach((table, now) -> {
      if (!isOwn(table)) {
        action.accept(TableState.of(table).newest());
      }
    });
  }

  /** Makes the outcome visible to all, in memory. */
  private void settle(
      OwnTables own,
      Map<String, NameChange> changes,
      Catalog.@Nullable Announcement told,
      long lsn) {
    try {
      forEachFormer(own, trees -> trees.ended(lsn));
      own.forEach((table, now) -> become(table, now, lsn));
      changes.values().forEach(change -> change.settle(/* committed= */ lsn != 0));
      if (told != null) {
        told.end(lsn);
      }
    } catch (Throwable failure) {
      storage.log().fail(failure); // log and memory differ
      throw failure;
    }
  }

  private void become(Table table, @Nullable TableTrees now, long lsn) {
    boolean isOwn = isOwn(table);
    if (lsn == 0 || now == null) {
      if (isOwn) {
        TableState.of(table).newest().ended(NOBODYS);
      } else if (lsn != 0) {
        catalog.lead(table.name(), null);
      }
      return;
    }
    now.begin(lsn, isOwn ? null : TableState.of(table).newest());
    TableState.of(table).newest(now);
    catalog.lead(table.name(), table);
  }

  /** Whether no other transaction has ever seen the table. */
  private static boolean isOwn(Table table) {
    return TableState.of(table).newest().since() == TableTrees.NEVER;
  }
}
