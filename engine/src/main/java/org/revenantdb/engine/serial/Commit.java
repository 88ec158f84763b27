package org.revenantdb.engine.serial;

import java.util.List;

/**
 * What a transaction has committed, for those that have to know whether it would have changed their
 * answers. Immutable.
 *
 * @param lsn of the record
 * @param rows the rows it has written; of no use if it is not known which
 * @param isKnown whether that is all it has written
 * @param gone ids of trees that were dropped or truncated
 * @param names of tables that came, went, or were truncated
 */
public record Commit(
    long lsn, List<Row> rows, boolean isKnown, List<Integer> gone, List<String> names) {
  /** Heap that one takes beside its rows. */
  private static final int BYTES = 96;

  /**
   * A row.
   *
   * @param tree id of its tree
   * @param key not to be changed
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Row(int tree, byte[] key) {
    /** Heap that one takes beside its key. */
    private static final int BYTES = 48;
  }

  /** What is left of it for who looks at all rows anyway. */
  Commit withoutRows() {
    return new Commit(lsn, List.of(), /* isKnown= */ true, gone, names);
  }

  /** Whether it has changed which tables there are. */
  boolean hasChangedTables() {
    return !gone.isEmpty() || !names.isEmpty();
  }

  /** Heap that it takes, about. */
  long bytes() {
    long bytes = BYTES;
    for (Row row : rows) {
      bytes += Row.BYTES + row.key().length;
    }
    return bytes;
  }
}
