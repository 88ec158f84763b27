package org.revenantdb.collections.index;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;

/**
 * The indexes of a table that are known in this process, shared by all objects of the table. A
 * stored index that was not declared yet cannot be maintained, so the table refuses writes until it
 * is declared or dropped.
 *
 * <p>Threads: {@code stored} is guarded by this object, the others can be read at any time.
 *
 * @param <V> type of the rows
 */
public final class TableIndexes<V> {
  private static final Map<Database, Map<String, TableIndexes<?>>> ALL = new HashMap<>();

  private final String table;

  /** Those that each write keeps; replaced as a whole. */
  private volatile List<Maintained<V>> declared = List.of();

  /** Null if there is none; else the message has them. */
  private volatile @Nullable String undeclared;

  private final Set<String> stored;

  /** Who declares or drops an index: one at a time, as long as the build takes. */
  private final ReentrantLock changes = new ReentrantLock();

  private TableIndexes(String table, Set<String> stored) {
    this.table = table;
    this.stored = stored;
    tell();
  }

  /** Those of a table. */
  @SuppressWarnings("unchecked") // every open of a table has the same type of rows
  public static <V> TableIndexes<V> of(Database database, String table) {
    TableIndexes<?> found;
    synchronized (ALL) {
      found = ALL.getOrDefault(database, Map.of()).get(table);
    }
    if (found == null) { // so nobody can create one; and nothing is read while others wait here
      TableIndexes<V> made = new TableIndexes<>(table, IndexCatalog.names(database, table));
      synchronized (ALL) {
        ALL.keySet().removeIf(Database::isClosed);
        found = ALL.computeIfAbsent(database, _ -> new HashMap<>()).putIfAbsent(table, made);
      }
      if (found == null) {
        return made;
      }
    }
    return (TableIndexes<V>) found;
  }

  /** Held by a thread that declares or drops an index. */
  ReentrantLock changes() {
    return changes;
  }

  /** Those that a write has to keep. */
  public List<Maintained<V>> toWrite() {
    String missing = undeclared;
    if (missing != null) {
      throw new IllegalStateException(
          "table "
              + table
              + " has indexes that were not declared since the open: "
              + missing
              + "; call index for each of them, or dropIndex, before the first write");
    }
    return declared;
  }

  /** Those that a write has to keep besides, after one that has kept some. */
  @SuppressWarnings("ReferenceEquality") // whether it is the list that was there
  public List<Maintained<V>> since(List<Maintained<V>> kept) {
    List<Maintained<V>> now = declared;
    if (now == kept) {
      return List.of();
    }
    List<Maintained<V>> more = new ArrayList<>(now);
    more.removeAll(kept);
    return more;
  }

  /** The index of this name; null if it was not declared. */
  public synchronized @Nullable Maintained<V> find(String name) {
    for (Maintained<V> each : declared) {
      if (each.name().equals(name)) {
        return each;
      }
    }
    return null;
  }

  synchronized void add(Maintained<V> index) {
    List<Maintained<V>> all = new ArrayList<>(declared);
    all.removeIf(it -> it.name().equals(index.name()));
    all.add(index);
    declared = List.copyOf(all);
    stored.add(index.name());
    tell();
  }

  synchronized void remove(String name) {
    List<Maintained<V>> all = new ArrayList<>(declared);
    all.removeIf(it -> it.name().equals(name));
    declared = List.copyOf(all);
    stored.remove(name);
    tell();
  }

  private synchronized void tell() {
    List<String> missing = new ArrayList<>(stored);
    declared.forEach(it -> missing.remove(it.name()));
    undeclared = missing.isEmpty() ? null : String.join(", ", missing);
  }
}
