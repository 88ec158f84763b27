package org.revenantdb.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.KeyHash;

/**
 * A table: ordered keys to values. Got from {@link Database#table}; belongs to that database.
 * Thread-safe.
 */
public final class Table {
  private final Engine engine;
  private final String name;
  private final TableOptions options;
  private final List<Tree> trees;

  /** The only tree, or that of the first partition. */
  private final Tree tree;

  /** By number; null where there is one tree, and no key needs a hash. */
  private final Tree @Nullable [] partitions;

  /**
   * A table that exists.
   *
   * @param trees its tree, or those of its partitions by number
   */
  Table(Engine engine, String name, List<Tree> trees) {
    this.engine = engine;
    this.name = name;
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

  @Override
  public String toString() {
    return name;
  }
}
