package org.revenantdb.collections.index;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.expiry.Expiring;
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
  private volatile List<Kept<V>> declared = List.of();

  /** Null if there is none; else the message has them. */
  private volatile @Nullable String undeclared;

  /** When rows expire; null if they do not, or if that was not declared. */
  private volatile @Nullable Expiring<V> expiring;

  private volatile boolean isExpiryUndeclared;

  /** Whether a thread removes expired rows. */
  private final AtomicBoolean hasRemover = new AtomicBoolean();

  private final Set<String> stored;

  /** Who declares or drops an index: one at a time, as long as the build takes. */
  private final ReentrantLock changes = new ReentrantLock();

  private TableIndexes(String table, Set<String> stored) {
    this.table = table;
    this.stored = stored;
    this.isExpiryUndeclared = stored.contains(Expiring.NAME);
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

  /** Held by who declares or drops an index. */
  public ReentrantLock changes() {
    return changes;
  }

  /**
   * When rows expire; null if they do not. What reads rows asks that first.
   *
   * @throws IllegalStateException if rows expire, and it was not declared when
   */
  public @Nullable Expiring<V> expiring() {
    Expiring<V> found = expiring;
    if (found == null && isExpiryUndeclared) {
      throw new IllegalStateException(
          "table "
              + table
              + " has rows that expire, which was not declared since the open; call expire, or"
              + " dropExpiry, before the first use");
    }
    return found;
  }

  /** As {@link #expiring}; null as well if it was not declared. */
  public @Nullable Expiring<V> declaredExpiring() {
    return expiring;
  }

  /** Called when rows expire from now on. */
  public synchronized void expires(Expiring<V> how) {
    expiring = how;
    isExpiryUndeclared = false;
  }

  /** Whether the caller is to start the thread that removes expired rows. */
  public boolean needsRemover() {
    return hasRemover.compareAndSet(false, true);
  }

  /** Called by that thread before it ends. */
  public void removerEnds() {
    hasRemover.set(false);
  }

  /** Whether writes are refused, as stored indexes were not declared since the open. */
  public boolean lacksDeclarations() {
    return undeclared != null;
  }

  /** Those that a write has to keep. */
  public List<Kept<V>> toWrite() {
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
  public List<Kept<V>> since(List<Kept<V>> kept) {
    List<Kept<V>> now = declared;
    if (now == kept) {
      return List.of();
    }
    List<Kept<V>> more = new ArrayList<>(now);
    more.removeAll(kept);
    return more;
  }

  /** What is kept under this name; null if nobody has declared it. */
  public synchronized @Nullable Kept<V> find(String name) {
    for (Kept<V> each : declared) {
      if (each.name().equals(name)) {
        return each;
      }
    }
    return null;
  }

  /** Called when something is kept from now on. */
  public synchronized void add(Kept<V> index) {
    List<Kept<V>> all = new ArrayList<>(declared);
    all.removeIf(it -> it.name().equals(index.name()));
    all.add(index);
    declared = List.copyOf(all);
    stored.add(index.name());
    tell();
  }

  /** Called when something is not kept any more. */
  public synchronized void remove(String name) {
    List<Kept<V>> all = new ArrayList<>(declared);
    all.removeIf(it -> it.name().equals(name));
    declared = List.copyOf(all);
    stored.remove(name);
    if (name.equals(Expiring.NAME)) {
      expiring = null;
      isExpiryUndeclared = false;
    }
    tell();
  }

  private synchronized void tell() {
    List<String> missing = new ArrayList<>(stored);
    declared.forEach(it -> missing.remove(it.name()));
    undeclared = missing.isEmpty() ? null : String.join(", ", missing);
  }
}
