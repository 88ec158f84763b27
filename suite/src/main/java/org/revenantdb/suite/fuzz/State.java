package org.revenantdb.suite.fuzz;

import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32C;

/**
 * The content of a database at one moment: the rows of each table, as marks of their values, and
 * the names of its prepared transactions.
 *
 * <p>Keys are bytes as ISO 8859-1 text. Immutable by convention: a changed table is a new map.
 *
 * @param tables name to rows; a row is key to {@link #mark}
 * @param prepared the names of prepared transactions
 * @param numbers name of a sequence to the highest number that was given out before the last
 *     commit, from 0
 */
record State(
    SortedMap<String, SortedMap<String, Long>> tables,
    Set<String> prepared,
    SortedMap<String, Long> numbers) {

  static final State EMPTY = new State(new TreeMap<>(), new TreeSet<>(), new TreeMap<>());

  /** The state after a table has changed. */
  State with(String table, Map<String, Long> rows) {
    SortedMap<String, SortedMap<String, Long>> changed = new TreeMap<>(tables);
    changed.put(table, new TreeMap<>(rows));
    return new State(changed, prepared, numbers);
  }

  /** The state after a table has gone. */
  State without(String table) {
    SortedMap<String, SortedMap<String, Long>> changed = new TreeMap<>(tables);
    changed.remove(table);
    return new State(changed, prepared, numbers);
  }

  /** The state after a transaction was prepared, or decided. */
  State withPrepared(Set<String> names) {
    return new State(tables, new TreeSet<>(names), numbers);
  }

  /** The state after sequences have given out numbers. */
  State withNumbers(Map<String, Long> highest) {
    return new State(tables, prepared, new TreeMap<>(highest));
  }

  /**
   * What is wrong with the next values of the sequences; empty if nothing is.
   *
   * @param values by the sequence's name; may contain sequences that are not in the state
   */
  String differenceOfNumbers(Map<String, Long> values) {
    for (Map.Entry<String, Long> known : numbers.entrySet()) {
      String name = known.getKey();
      Long value = values.get(name);
      if (value == null) {
        return "sequence " + name + " is missing";
      }
      long number = KnownSequence.of(name).number(value);
      if (number < 0) {
        return "sequence " + name + " gives out " + value + ", which is none of its values";
      }
      if (number <= known.getValue()) {
        return "sequence " + name + " gives out " + value + " again, or one before it";
      }
    }
    return "";
  }

  /** A hash of a value. */
  static long mark(byte[] value) {
    CRC32C crc = new CRC32C();
    crc.update(value);
    return crc.getValue() << 32 | value.length;
  }

  /** The first difference of two states, as text; empty if there is none. */
  static String difference(State wanted, State found) {
    if (!wanted.prepared.equals(found.prepared)) {
      return "prepared: " + found.prepared + " instead of " + wanted.prepared;
    }
    if (!wanted.tables.keySet().equals(found.tables.keySet())) {
      return "tables: " + found.tables.keySet() + " instead of " + wanted.tables.keySet();
    }
    for (Map.Entry<String, SortedMap<String, Long>> table : wanted.tables.entrySet()) {
      SortedMap<String, Long> there = found.tables.getOrDefault(table.getKey(), new TreeMap<>());
      String difference = difference(table.getKey(), table.getValue(), there);
      if (!difference.isEmpty()) {
        return difference;
      }
    }
    return "";
  }

  private static String difference(
      String table, Map<String, Long> wanted, Map<String, Long> found) {
    if (wanted.equals(found)) {
      return "";
    }
    int missing = 0;
    int other = 0;
    String first = "";
    for (Map.Entry<String, Long> row : wanted.entrySet()) {
      Long there = found.get(row.getKey());
      if (!row.getValue().equals(there)) {
        missing += there == null ? 1 : 0;
        other += there == null ? 0 : 1;
        first = first.isEmpty() ? row.getKey() : first;
      }
    }
    int extra = 0;
    for (String key : found.keySet()) {
      if (!wanted.containsKey(key)) {
        extra++;
        first = first.isEmpty() ? key : first;
      }
    }
    return "table %s: %d rows missing, %d with another value, %d too many; first %s"
        .formatted(table, missing, other, extra, first);
  }
}
