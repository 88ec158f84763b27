package org.revenantdb.engine.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * What a database has to hold: all tables with all their rows, and what every prepared transaction
 * would change.
 */
public final class Contents {
  private final TreeMap<String, TreeMap<Integer, byte[]>> tables = new TreeMap<>();
  private final TreeMap<String, List<Consumer<Contents>>> prepared = new TreeMap<>();

  Contents copy() {
    Contents copy = new Contents();
    tables.forEach((name, rows) -> copy.tables.put(name, new TreeMap<>(rows)));
    copy.prepared.putAll(prepared);
    return copy;
  }

  /** These, with what a transaction has done. */
  Contents with(List<Consumer<Contents>> effects) {
    Contents after = copy();
    effects.forEach(effect -> effect.accept(after));
    return after;
  }

  TreeMap<Integer, byte[]> rows(String table) {
    return Objects.requireNonNull(tables.get(table), table);
  }

  boolean hasTable(String name) {
    return tables.containsKey(name);
  }

  Set<String> tables() {
    return tables.keySet();
  }

  void create(String table) {
    tables.put(table, new TreeMap<>());
  }

  void drop(String table) {
    tables.remove(table);
  }

  Set<String> prepared() {
    return prepared.keySet();
  }

  void prepare(String name, List<Consumer<Contents>> effects) {
    prepared.put(name, List.copyOf(effects));
  }

  /** These, with the outcome of a prepared transaction. */
  Contents decided(String name, boolean commits) {
    Contents after = copy();
    List<Consumer<Contents>> effects = Objects.requireNonNull(after.prepared.remove(name), name);
    return commits ? after.with(effects) : after;
  }

  /** The rows that a transaction sees that begins now. */
  static Contents of(List<String> tables, List<byte[]> prepared, Scene scene) {
    Contents found = new Contents();
    try (Transaction tx = scene.begin()) {
      for (String name : tables) {
        found.create(name);
        Table table = scene.table(name);
        try (Cursor cursor = tx.scan(table, null, null)) {
          while (cursor.next()) {
            byte[] value = cursor.value();
            assertArrayEquals(value, tx.get(table, cursor.key()), "a scan and a read differ");
            found.rows(name).put(ByteBuffer.wrap(cursor.key()).getInt(), value);
          }
        }
      }
    }
    prepared.forEach(name -> found.prepared.put(Samples.text(name), List.of()));
    return found;
  }

  public boolean isSame(Contents other) {
    return prepared().equals(other.prepared())
        && tables().equals(other.tables())
        && tables.entrySet().stream()
            .allMatch(table -> areSame(table.getValue(), other.rows(table.getKey())));
  }

  private static boolean areSame(Map<Integer, byte[]> rows, Map<Integer, byte[]> others) {
    return rows.keySet().equals(others.keySet())
        && rows.entrySet().stream()
            .allMatch(row -> Arrays.equals(row.getValue(), others.get(row.getKey())));
  }

  void assertFound(Contents found) {
    assertEquals(prepared(), found.prepared(), "prepared");
    assertEquals(tables(), found.tables(), "tables");
    tables.forEach((name, rows) -> {
      assertEquals(rows.keySet(), found.rows(name).keySet(), "rows of " + name);
      rows.forEach((key, value) ->
          assertArrayEquals(value, found.rows(name).get(key), "row " + key + " of " + name));
    });
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    tables.forEach((name, rows) -> text.append(name).append(rows.keySet()).append(' '));
    return text.append("prepared ").append(prepared()).toString();
  }
}
