package org.revenantdb.chaos.oracle;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A store with snapshot isolation and first-updater-wins, made of {@link TreeMap}s: simple enough
 * to be right.
 *
 * <p>Use it if one thread drives all sessions in turn. Then each answer of the real store can be
 * predicted exactly, including conflicts.
 *
 * <p>Threads: one.
 *
 * @param <K> the key of a row
 * @param <V> the value of a row
 */
public final class SnapshotModel<K extends Comparable<K>, V> {

  private final TreeMap<K, V> committed = new TreeMap<>();
  private final Map<K, Long> lastChange = new HashMap<>();
  private final Map<K, Session> changing = new HashMap<>();
  private long commits;

  /** Creates an empty model. */
  public SnapshotModel() {}

  /**
   * Begins a transaction, which sees the rows that are committed now.
   *
   * @return the transaction
   */
  public Session begin() {
    return new Session();
  }

  /**
   * Returns all committed rows.
   *
   * @return a view
   */
  public NavigableMap<K, V> committed() {
    return Collections.unmodifiableNavigableMap(committed);
  }

  /** A transaction of the model. */
  public final class Session {

    private final TreeMap<K, V> view = new TreeMap<>(committed);
    private final long snapshot = commits;
    private final Set<K> changed = new HashSet<>();

    private Session() {}

    /**
     * Returns the rows that this transaction sees, including its own changes.
     *
     * @return a view
     */
    public NavigableMap<K, V> rows() {
      return Collections.unmodifiableNavigableMap(view);
    }

    /**
     * Predicts whether a change of the row meets a conflict.
     *
     * @param key the row
     * @return true if another transaction changes it now, or has changed it since this one began
     */
    public boolean conflicts(K key) {
      Session other = changing.get(key);
      return (other != null && other != this) || lastChange.getOrDefault(key, 0L) > snapshot;
    }

    /**
     * Changes a row.
     *
     * @param key the row
     * @param value the new value, null to remove it
     */
    public void change(K key, @Nullable V value) {
      if (conflicts(key)) {
        throw new IllegalStateException("the test caused a conflict in the model at " + key);
      }
      changing.put(key, this);
      changed.add(key);
      if (value == null) {
        view.remove(key);
      } else {
        view.put(key, value);
      }
    }

    /** Makes the changes visible to transactions that begin from now on. */
    public void commit() {
      commits++;
      for (K key : changed) {
        V value = view.get(key);
        if (value == null) {
          committed.remove(key);
        } else {
          committed.put(key, value);
        }
        lastChange.put(key, commits);
        changing.remove(key);
      }
      changed.clear();
    }

    /** Undoes the changes. Does nothing if the transaction has ended. */
    public void rollback() {
      changed.forEach(key -> changing.remove(key, this));
      changed.clear();
    }
  }
}
