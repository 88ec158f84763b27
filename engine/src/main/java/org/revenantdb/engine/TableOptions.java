package org.revenantdb.engine;

import org.revenantdb.engine.page.TableRow;

/**
 * The layout of a table. The options are set when the table is created and never change. {@link
 * Database#getOrCreateTable(String, TableOptions)} refuses a table with other options. Immutable.
 *
 * <p><b>Hash partitions.</b> The table has several trees, and a hash of the key selects one. So
 * threads that insert ascending keys do not all write to the last page of one tree. A read or write
 * of a single key goes to one tree, as without partitions. A scan reads all trees and merges them,
 * so rows come in key order; a short scan costs a search in each tree. Tables with many short scans
 * are better without partitions. A few partitions for each inserting thread are enough.
 *
 * @param partitions number of trees, 1 to {@link #MAX_PARTITIONS}; 1 is an ordinary table without a
 *     hash
 */
public record TableOptions(int partitions) {
  /** Most partitions that a table may have. */
  public static final int MAX_PARTITIONS = TableRow.MAX_PARTITIONS;

  private static final TableOptions DEFAULTS = new TableOptions(1);

  /** Checks the options. */
  public TableOptions {
    OptionCheck.inRange(partitions, "partitions", 1, MAX_PARTITIONS, "");
  }

  /**
   * An ordinary table: one tree.
   *
   * @return options
   */
  public static TableOptions defaults() {
    return DEFAULTS;
  }

  /**
   * A table whose rows are spread over several trees by a hash of the key.
   *
   * @param partitions number of trees, 1 to {@link #MAX_PARTITIONS}; 1 is an ordinary table
   * @return options
   */
  public static TableOptions hashPartitioned(int partitions) {
    return new TableOptions(partitions);
  }
}
