package org.revenantdb.kafka.streams;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
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

  /** By row that was not there, the number of its first insertion. */
  private final Map<Row, Integer> numbers = new HashMap<>();

  /** Rows that were there when they were deleted: they are not new if they come back. */
  private final Set<Row> deleted = new HashSet<>();

  private int last;

  /** The number of the last insertion. */
  int last() {
    return last;
  }

  /**
   * A row is written or deleted.
   *
   * @param wasThere whether the row was there before that
   * @param isThere whether it is there now
   */
  void writes(Table table, byte[] key, boolean wasThere, boolean isThere) {
    if (wasThere == isThere) {
      return;
    }
    Row row = new Row(table, Bytes.wrap(key));
    if (numbers.containsKey(row) || deleted.contains(row)) {
      return;
    }
    if (wasThere) {
      deleted.add(row);
    } else {
      numbers.put(row, ++last);
    }
  }

  /** Whether a row was inserted behind the insertion of this number. */
  boolean isBehind(int number, Table table, byte[] row) {
    return last > number
        && numbers.getOrDefault(new Row(table, Bytes.wrap(row)), /* never= */ 0) > number;
  }
}
