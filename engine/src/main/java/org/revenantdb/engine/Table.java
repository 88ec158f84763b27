package org.revenantdb.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.KeyHash;

/**
 * A table: ordered keys to values. Got from {@link Database#table}; belongs to that database.
 * Thread-safe.
 *
 * <p>When the table was {@linkplain Database#dropTable dropped}, transactions that had begun before
 * go on reading it; everything else that is asked of it throws {@link TableDroppedException}, also
 * when there is another table of the same name.
 */
public final class Table {
  /*
   * Protocol    docs/protocols.md §24.
   *
   * readableBelow   NEVER   nobody has published a drop      -> b      by who drops, before the record has a place
   *                 b       the tail of the log before it    -> lsn    by who drops: published
   *                                                          -> NEVER  by who drops: it came to nothing
   *                 lsn     the record that dropped it       final
   *             A snapshot at or above the record was taken after its place was: so who has one finds b or lsn.
   * droppers    more than 0: nobody begins to write; lowered only after lsn, or NEVER, is there.
   */
  private static final long NEVER = Long.MAX_VALUE;

  private final Engine engine;
  private final String name;
  private final TableOptions options;
  private final List<Tree> trees;

  /** The only tree, or that of the first partition. */
  private final Tree tree;

  /** By number; null where there is one tree, and no key needs a hash. */
  private final Tree @Nullable [] partitions;

  /** Held by who publishes a drop. */
  private final Lock changing;

  private final AtomicInteger droppers = new AtomicInteger();
  private volatile long readableBelow = NEVER;

  /**
   * A table that exists.
   *
   * @param trees its tree, or those of its partitions by number
   * @param changing held while a table is dropped
   */
  Table(Engine engine, String name, List<Tree> trees, Lock changing) {
    this.engine = engine;
    this.name = name;
    this.changing = changing;
    this.options = new TableOptions(trees.size());
    this.trees = List.copyOf(trees);
    this.tree = trees.getFirst();
    this.partitions = trees.size() == 1 ? null : trees.toArray(new Tree[0]);
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

  /** All trees: one, or that of each partition by number. */
  List<Tree> trees() {
    return trees;
  }

  /** The tree in which a key is, if it is there; refuses a table of another database. */
  Tree treeOf(Engine caller, byte[] key) {
    demandOf(caller);
    Tree[] several = partitions;
    return several == null ? tree : several[KeyHash.partition(key, several.length)];
  }

  /** All trees; refuses a table of another database. */
  List<Tree> treesOf(Engine caller) {
    demandOf(caller);
    return trees;
  }

  private void demandOf(Engine caller) {
    if (caller != engine) {
      throw new IllegalArgumentException("table " + name + " belongs to another database");
    }
  }

  /** Whether a snapshot may read the table for certain, and as long as it is open. */
  boolean isReadableAt(long snapshot) {
    return snapshot < readableBelow;
  }

  /**
   * LSN of the record that dropped the table, {@link Long#MAX_VALUE} if there is none; waits while
   * one is being published.
   */
  long droppedAt() {
    if (readableBelow == NEVER) {
      return NEVER;
    }
    changing.lock();
    try {
      return readableBelow;
    } finally {
      changing.unlock();
    }
  }

  /** Whether nobody wants to drop it, or has. A transaction asks after it has entered itself. */
  boolean isWritable() {
    return droppers.get() == 0 && readableBelow == NEVER;
  }

  /** From now on nobody begins to write. */
  void beginDrop() {
    droppers.getAndIncrement();
  }

  /** Ends what {@link #beginDrop} began: it was dropped, or is to be written again. */
  void endDrop() {
    droppers.getAndDecrement();
  }

  /** The record that drops it is about to be published, behind this LSN. */
  void publishing(long tail) {
    readableBelow = tail;
  }

  /** The record was published, or, with 0, was not. */
  void published(long lsn) {
    readableBelow = lsn == 0 ? NEVER : lsn;
  }

  @Override
  public String toString() {
    return name;
  }
}
