package org.revenantdb.kafka.streams;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.revenantdb.engine.Table;

/**
 * Rows that a task has inserted in a transaction since an iterator first read in it. An iterator
 * leaves out those that were inserted behind its opening.
 *
 * <p>Threads: guarded by the lock of the task while its transaction is open, and not changed after
 * that.
 */
final class Insertions {
  private record Row(Table table, Bytes key) {}

  /** By row, the number of its last insertion. */
  private final Map<Row, Integer> numbers = new HashMap<>();

  private int last;

  /** The number of the last insertion. */
  int last() {
    return last;
  }

  void add(Table table, byte[] row) {
    numbers.put(new Row(table, Bytes.wrap(row)), ++last);
  }

  /** Whether a row was inserted behind the insertion of this number. */
  boolean isBehind(int number, Table table, byte[] row) {
    return last > number
        && numbers.getOrDefault(new Row(table, Bytes.wrap(row)), /* never= */ 0) > number;
  }
}
