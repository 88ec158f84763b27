package org.revenantdb.engine.catalog;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.access.Misuse;

/**
 * The state of a table inside the engine: its trees for each snapshot. {@link Table} is its API
 * object.
 *
 * <p>Threads: any.
 */
public final class TableState {
  /*
   * Protocol    docs/protocols.md §24, §31.
   *
   * newest      the trees that all see with a current snapshot; written with the lock. For a table that a transaction
   *             has created and not committed: trees that no other transaction can read.
   * droppers    more than 0: no transaction begins to write. Lowered only after their change was made, or has failed.
   */
  private final Object database;
  private final String name;
  private final TableOptions options;
  private final Table face;

  /** Held by the thread that changes which trees the table has. */
  private final Lock changing;

  private final AtomicInteger droppers = new AtomicInteger();
  private volatile TableTrees newest;

  /**
   * Makes the state of an existing table.
   *
   * @param database its database, compared by identity
   * @param changing held while it is dropped or truncated
   */
  public TableState(Object database, String name, TableTrees trees, Lock changing) {
    this.database = database;
    this.name = name;
    this.changing = changing;
    this.options = new TableOptions(trees.all().size());
    this.newest = trees;
    this.face = ApiAccess.api().table(this);
  }

  /** The state of a table. */
  public static TableState of(Table table) {
    return ApiAccess.api().state(table);
  }

  /** Its API object. */
  public Table face() {
    return face;
  }

  /** The table's name. */
  public String name() {
    return name;
  }

  /** The options with which the table was created. */
  public TableOptions options() {
    return options;
  }

  /** Whether it belongs to a database. */
  @SuppressWarnings("ReferenceEquality") // which database it is
  public boolean isOf(Object other) {
    return database == other;
  }

  /** Refuses a table of another database. */
  public void demandOf(Object other) {
    if (!isOf(other)) {
      throw new Misuse.OfArgument("table " + name + " belongs to another database");
    }
  }

  /** The trees that it has for current snapshots, or had when it was dropped. */
  public TableTrees newest() {
    return newest;
  }

  /** Sets its trees from now on. */
  public void newest(TableTrees trees) {
    newest = trees;
  }

  /**
   * The trees that a snapshot may certainly read, as long as it is open; null if there are none, or
   * if this is being decided.
   */
  public @Nullable TableTrees readableAt(long snapshot) {
    TableTrees trees = newest;
    while (trees != null && trees.since() > snapshot) {
      trees = trees.former();
    }
    return trees != null && snapshot < trees.below() ? trees : null;
  }

  /** The same, after it was decided; null if there are none. */
  public @Nullable TableTrees decidedAt(long snapshot) {
    changing.lock();
    try {
      return readableAt(snapshot);
    } finally {
      changing.unlock();
    }
  }

  /**
   * LSN of the record that dropped the table, {@link TableTrees#NEVER} if there is none. Waits
   * while one is being published.
   */
  public long droppedAt() {
    changing.lock();
    try {
      return newest.below();
    } finally {
      changing.unlock();
    }
  }

  /**
   * Whether no thread is dropping it, or has dropped it. A transaction calls this after it has
   * entered the table.
   */
  public boolean isWritable() {
    return droppers.get() == 0 && newest.below() == TableTrees.NEVER;
  }

  /** From now on no transaction begins to write. */
  public void beginDrop() {
    droppers.getAndIncrement();
  }

  /** Ends {@link #beginDrop}: the table was dropped, or may be written again. */
  public void endDrop() {
    droppers.getAndDecrement();
  }

  @Override
  public String toString() {
    return name;
  }
}
