package org.revenantdb.engine.session;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.catalog.TableTrees;

/**
 * The changes of one transaction to tables: the trees that tables have only for it, and the tables
 * to which no other transaction may begin to write until it has ended (protocols.md §31). For one
 * thread at a time.
 */
public final class OwnTables {
  private final Map<Table, @Nullable TableTrees> trees = new HashMap<>();
  private final ArrayList<Table> held = new ArrayList<>();

  /** Makes an object without tables. */
  public OwnTables() {}

  /** Whether a table has other trees for this transaction than for others, or none. */
  boolean has(Table table) {
    return trees.containsKey(table);
  }

  /** The trees that a table has for this transaction, if it {@link #has} others; null if none. */
  @Nullable TableTrees of(Table table) {
    return trees.get(table);
  }

  /** Sets the trees of a table from now on; null if it was dropped. */
  void put(Table table, @Nullable TableTrees now) {
    trees.put(table, now);
  }

  /** A table that it has created or truncated, by its name; null if there is none. */
  @Nullable Table named(String name) {
    for (Map.Entry<Table, @Nullable TableTrees> entry : trees.entrySet()) {
      if (entry.getValue() != null && entry.getKey().name().equals(name)) {
        return entry.getKey();
      }
    }
    return null;
  }

  /** Visits each table that has other trees, with these trees; null if it has none. */
  void forEach(BiConsumer<Table, @Nullable TableTrees> visitor) {
    trees.forEach(visitor);
  }

  /** Whether it has changed no table. */
  boolean isEmpty() {
    return trees.isEmpty();
  }

  /** Makes room for another table to {@link #hold}, so that {@code hold} cannot fail. */
  void reserve() {
    held.ensureCapacity(held.size() + 1);
  }

  /** Called after {@link TableState#beginDrop} was called for this transaction. */
  void hold(Table table) {
    held.add(table);
  }

  /** Whether no other transaction can begin to write to a table because of this one. */
  boolean holds(Table table) {
    return held.contains(table);
  }

  /** The transaction has ended. */
  void end() {
    held.forEach(table -> TableState.of(table).endDrop());
    held.clear();
  }
}
