package org.revenantdb.collections;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.revenantdb.collections.index.Maintained;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Transaction;

/** Compares the rows of a table with the entries of an index. */
final class IndexCheck {
  private static final int REPORTED = 100;

  private IndexCheck() {}

  /** The differences, at most a hundred. */
  static <K, V> List<String> of(
      TypedTable<K, V> rows, Maintained<V> index, Transaction transaction) {
    List<String> problems = new ArrayList<>();
    long expected = addMissing(rows, index, transaction, problems);
    if (!problems.isEmpty() || transaction.count(index.entries(), null, null) != expected) {
      addStray(rows, index, transaction, problems);
    }
    return List.copyOf(problems);
  }

  /** Returns how many entries the rows have to have. */
  private static <K, V> long addMissing(
      TypedTable<K, V> rows, Maintained<V> index, Transaction transaction, List<String> problems) {
    long expected = 0;
    try (TypedCursor<K, V> cursor =
        rows.allRows(transaction)) { // expired ones have entries as well
      while (cursor.next()) {
        byte[] key = cursor.keyBytes();
        for (byte[] value : index.of(cursor.value())) {
          expected++;
          byte[] found = transaction.get(index.entries(), index.entryKey(value, key));
          boolean isRight = Arrays.equals(found, index.entryValueOf(cursor.value(), key));
          if (!isRight && problems.size() < REPORTED) {
            problems.add(
                "the row with key "
                    + cursor.key()
                    + " has no entry "
                    + index.shape().codec().fromBytes(value));
          }
        }
      }
    }
    return expected;
  }

  private static <K, V> void addStray(
      TypedTable<K, V> rows, Maintained<V> index, Transaction transaction, List<String> problems) {
    try (Cursor entries = transaction.scan(index.entries(), null, null)) {
      while (entries.next() && problems.size() < REPORTED) {
        byte[] entryKey = entries.key();
        byte[] key = index.rowKeyOf(entryKey, entries.value());
        TreeSet<byte[]> values = index.of(rows.stored(transaction, key));
        if (values.stream().noneMatch(it -> Arrays.equals(index.entryKey(it, key), entryKey))) {
          problems.add(
              "an entry leads to key "
                  + rows.readKey(key)
                  + ", whose row does not have this entry");
        }
      }
    }
  }
}
