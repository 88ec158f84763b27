package org.revenantdb.engine;

import org.revenantdb.engine.page.TableRow;

/**
 * How a table is laid out. The options are set when the table is created and never change; {@link
 * Database#getOrCreateTable(String, TableOptions)} refuses a table that has others. Immutable.
 *
 * <p><b>Hash partitions.</b> The rows are spread over so many trees, by a hash of the key. So those
 * who insert ascending keys from many threads do not all meet at the last page of one tree. Each
 * read and write of a single key goes to one tree, as without partitions. A scan pays: it goes
 * through all the trees at once and merges them, so keys come in order all the same; a short one
 * costs a search in each. A range that is small, or one that is scanned often, is better off
 * without partitions. A few times as many partitions as threads that insert at the same time is
 * plenty.
 *
 * @param partitions number of trees, 1 to {@link #MAX_PARTITIONS}; 1 is an ordinary table, without
 *     a hash, so that a number from a setting needs no case of its own
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
   * A table whose rows are spread by a hash of the key.
   *
   * @param partitions over how many trees, 1 to {@link #MAX_PARTITIONS}; 1 is an ordinary table
   * @return options
   */
  public static TableOptions hashPartitioned(int partitions) {
    return new TableOptions(partitions);
  }
}
