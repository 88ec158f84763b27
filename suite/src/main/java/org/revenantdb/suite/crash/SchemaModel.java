package org.revenantdb.suite.crash;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Table;

/**
 * Tables with certain names and all their rows, as a map of maps. Values have their form in
 * promises. Tables with other names are ignored.
 *
 * <p>Threads: one.
 */
final class SchemaModel {

  private record Contents(int partitions, TreeMap<String, byte[]> rows) {}

  private final List<String> names;
  private final TreeMap<String, Contents> tables = new TreeMap<>();

  private SchemaModel(List<String> names) {
    this.names = names;
  }

  /** The tables that a transaction sees under these names. */
  static SchemaModel read(SchemaTransaction tx, List<String> names) {
    SchemaModel model = new SchemaModel(names);
    for (String name : names) {
      Table table = tx.find(name);
      if (table != null) {
        model.create(name, table.options().partitions());
        try (Cursor cursor = tx.scan(table)) {
          while (cursor.next()) {
            model.put(name, cursor.key(), Cell.promised(cursor.value()));
          }
        }
      }
    }
    return model;
  }

  SchemaModel copy() {
    SchemaModel copy = new SchemaModel(names);
    tables.forEach((name, contents) ->
        copy.tables.put(name, new Contents(contents.partitions, new TreeMap<>(contents.rows))));
    return copy;
  }

  boolean isThere(String name) {
    return tables.containsKey(name);
  }

  void create(String name, int partitions) {
    if (names.contains(name)) {
      tables.put(name, new Contents(partitions, new TreeMap<>()));
    }
  }

  void drop(String name) {
    tables.remove(name);
  }

  void truncate(String name) {
    rows(name).clear();
  }

  void put(String name, byte[] key, byte[] promised) {
    rows(name).put(text(key), promised);
  }

  void delete(String name, byte[] key) {
    rows(name).remove(text(key));
  }

  private Map<String, byte[]> rows(String name) {
    Contents contents = tables.get(name);
    return contents == null ? new TreeMap<>() : contents.rows;
  }

  private static String text(byte[] key) {
    return new String(key, StandardCharsets.US_ASCII);
  }

  /** A hash of every table, its options and its rows. */
  long digest() {
    long digest = 0;
    for (Map.Entry<String, Contents> table : tables.entrySet()) {
      digest = Seeds.of(digest, table.getKey().hashCode());
      digest = Seeds.of(digest, table.getValue().partitions);
      for (Map.Entry<String, byte[]> row : table.getValue().rows.entrySet()) {
        digest = Seeds.of(digest, row.getKey().hashCode());
        digest = Seeds.of(digest, Arrays.hashCode(row.getValue()));
      }
    }
    return digest;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    tables.forEach((name, contents) ->
        text.append(
            " %s: %d partitions, rows %s;"
                .formatted(name, contents.partitions, contents.rows.keySet())));
    return text.append(" }").toString();
  }
}
