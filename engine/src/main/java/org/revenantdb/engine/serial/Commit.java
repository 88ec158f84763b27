package org.revenantdb.engine.serial;

import java.util.List;

/**
 * The changes of a committed transaction, for transactions that must find out whether these would
 * have changed their reads. Immutable.
 *
 * @param lsn the LSN of the record
 * @param rows the rows it has written; meaningless if not all are known
 * @param isKnown whether these are all rows that it has written
 * @param gone ids of trees that were dropped or truncated
 * @param names of tables that were created, dropped or truncated
 */
public record Commit(
    long lsn, List<Row> rows, boolean isKnown, List<Integer> gone, List<String> names) {
  /** Heap size of a commit without its rows. */
  private static final int BYTES = 96;

  /**
   * A row.
   *
   * @param tree id of its tree
   * @param key not to be changed
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Row(int tree, byte[] key) {
    /** Heap size of a row without its key. */
    private static final int BYTES = 48;
  }

  /** The commit without its rows, for a transaction that checks all rows anyway. */
  Commit withoutRows() {
    return new Commit(lsn, List.of(), /* isKnown= */ true, gone, names);
  }

  /** Whether it has changed the set of tables. */
  boolean hasChangedTables() {
    return !gone.isEmpty() || !names.isEmpty();
  }

  /** Its approximate heap size. */
  long bytes() {
    long bytes = BYTES;
    for (Row row : rows) {
      bytes += Row.BYTES + row.key().length;
    }
    return bytes;
  }
}
