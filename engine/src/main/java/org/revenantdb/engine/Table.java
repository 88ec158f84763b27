package org.revenantdb.engine;

import org.revenantdb.engine.btree.Tree;

/**
 * A table: ordered keys to values. Got from {@link Database#table}; belongs to that database.
 * Thread-safe.
 */
public final class Table {
  private final Engine engine;
  private final String name;
  private final Tree tree;

  Table(Engine engine, String name, Tree tree) {
    this.engine = engine;
    this.name = name;
    this.tree = tree;
  }

  /**
   * The table's name.
   *
   * @return as given to {@link Database#table}
   */
  public String name() {
    return name;
  }

  Tree tree() {
    return tree;
  }

  /** Refuses a table of another database. */
  Tree treeOf(Engine caller) {
    if (caller != engine) {
      throw new IllegalArgumentException("table " + name + " belongs to another database");
    }
    return tree;
  }

  @Override
  public String toString() {
    return name;
  }
}
