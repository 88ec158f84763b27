package org.revenantdb.engine;

import org.revenantdb.engine.catalog.TableState;

/**
 * A table: ordered keys to values. Got from {@link Database#table} and its relatives; belongs to
 * that database. Thread-safe.
 *
 * <p>When the table was {@linkplain Transaction#dropTable dropped}, transactions that had begun
 * before go on reading it; everything else that is asked of it throws {@link CatalogException},
 * also when there is another table of the same name. When it was {@linkplain Transaction#truncate
 * truncated} it stays the same table: transactions that had begun before read the rows that it had.
 */
public final class Table {
  private final TableState state;

  Table(TableState state) {
    this.state = state;
  }

  /**
   * The table's name.
   *
   * @return as given when the table was created
   */
  public String name() {
    return state.name();
  }

  /**
   * What the table was created with.
   *
   * @return the options
   */
  public TableOptions options() {
    return state.options();
  }

  /** What the engine knows of it. */
  TableState state() {
    return state;
  }

  @Override
  public String toString() {
    return name();
  }
}
