package org.revenantdb.engine;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A table: ordered keys to values. Got from {@link Database#table}; belongs to that database.
 * Thread-safe.
 *
 * <p>When the table was {@linkplain Transaction#dropTable dropped}, transactions that had begun
 * before go on reading it; everything else that is asked of it throws {@link
 * TableDroppedException}, also when there is another table of the same name. When it was
 * {@linkplain Transaction#truncate truncated} it stays the same table: transactions that had begun
 * before read the rows that it had.
 */
public final class Table {
  /*
   * Protocol    docs/protocols.md §24, §31.
   *
   * newest      what everybody sees with a snapshot of now; written by who has the lock. Of a table that a transaction
   *             has created and not committed: trees that nobody else can read.
   * droppers    more than 0: nobody begins to write; lowered only after what they do has come to pass, or to nothing.
   */
  private final Engine engine;
  private final String name;
  private final TableOptions options;

  /** Held by who changes which trees the table has. */
  private final Lock changing;

  private final AtomicInteger droppers = new AtomicInteger();
  private volatile TableTrees newest;

  /**
   * A table that exists.
   *
   * @param changing held while it is dropped or truncated
   */
  Table(Engine engine, String name, TableTrees trees, Lock changing) {
    this.engine = engine;
    this.name = name;
    this.changing = changing;
    this.options = new TableOptions(trees.all().size());
    this.newest = trees;
  }

  /**
   * The table's name.
   *
   * @return as given to {@link Database#table}
   */
  public String name() {
    return name;
  }

  /**
   * What the table was created with.
   *
   * @return the options
   */
  public TableOptions options() {
    return options;
  }

  /** The database that it is of. */
  Engine engine() {
    return engine;
  }

  /** Refuses a table of another database. */
  void demandOf(Engine caller) {
    if (caller != engine) {
      throw new Misuse.OfArgument("table " + name + " belongs to another database");
    }
  }

  /** The trees that it has for snapshots of now, or had when it was dropped. */
  TableTrees newest() {
    return newest;
  }

  /** It has other trees from now on. */
  void newest(TableTrees trees) {
    newest = trees;
  }

  /**
   * The trees that a snapshot may read for certain, and as long as it is open; null if there are
   * none, or that is being decided.
   */
  @Nullable TableTrees readableAt(long snapshot) {
    TableTrees trees = newest;
    while (trees != null && trees.since() > snapshot) {
      trees = trees.former();
    }
    return trees != null && snapshot < trees.below() ? trees : null;
  }

  /** The same, after it was decided; null if there are none. */
  @Nullable TableTrees decidedAt(long snapshot) {
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
  long droppedAt() {
    changing.lock();
    try {
      return newest.below();
    } finally {
      changing.unlock();
    }
  }

  /** Whether nobody wants to drop it, or has. A transaction asks after it has entered itself. */
  boolean isWritable() {
    return droppers.get() == 0 && newest.below() == TableTrees.NEVER;
  }

  /** From now on nobody begins to write. */
  void beginDrop() {
    droppers.getAndIncrement();
  }

  /** Ends what {@link #beginDrop} began: it was dropped, or is to be written again. */
  void endDrop() {
    droppers.getAndDecrement();
  }

  @Override
  public String toString() {
    return name;
  }
}
