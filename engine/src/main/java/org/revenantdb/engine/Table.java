package org.revenantdb.engine;

import org.revenantdb.engine.catalog.TableState;

/**
 * A table: an ordered map from keys to values. {@link Database#table} and similar methods return
 * it; it belongs to that database. Thread-safe.
 *
 * <p>After the table was {@linkplain Transaction#dropTable dropped}, transactions that began before
 * can still read it. Every other use throws {@link CatalogException}, even if there is a new table
 * of the same name. After a {@linkplain Transaction#truncate truncation} this object stays valid,
 * and transactions that began before read the former rows.
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
   * The options with which the table was created.
   *
   * @return the options
   */
  public TableOptions options() {
    return state.options();
  }

  /** The state of the table in the engine. */
  TableState state() {
    return state;
  }

  @Override
  public String toString() {
    return name();
  }
}
