package org.revenantdb.engine.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.version.RowWriter;

/**
 * Every version of every row that was ever committed, and what those still writing have written.
 */
public final class History {
  /** A committed version; the value is null where the row was deleted. */
  record Version(long lsn, byte @Nullable [] value) {}

  private final NavigableMap<byte[], List<Version>> committed =
      new TreeMap<>(Arrays::compareUnsigned);
  private final Map<Object, NavigableMap<byte[], Version>> pending = new HashMap<>();

  private NavigableMap<byte[], Version> of(Object tx) {
    return pending.computeIfAbsent(tx, t -> new TreeMap<>(Arrays::compareUnsigned));
  }

  /** What a transaction has to see. */
  public byte @Nullable [] get(Object tx, long snapshot, byte[] key) {
    Version own = of(tx).get(key);
    if (own != null) {
      return own.value();
    }
    byte[] found = null;
    for (Version version : committed.getOrDefault(key, List.of())) {
      if (version.lsn() <= snapshot) {
        found = version.value();
      }
    }
    return found;
  }

  /** The commit on which {@link #get} depends, 0 if on none. */
  public long dependsOn(Object tx, long snapshot, byte[] key) {
    long lsn = 0;
    if (!of(tx).containsKey(key)) {
      for (Version version : committed.getOrDefault(key, List.of())) {
        lsn = version.lsn() <= snapshot ? version.lsn() : lsn;
      }
    }
    return lsn;
  }

  /** What a write has to come to; notes it if it is done. */
  public RowWriter.Outcome write(Object tx, long snapshot, byte[] key, byte @Nullable [] value) {
    boolean mine = of(tx).containsKey(key);
    for (Map.Entry<Object, NavigableMap<byte[], Version>> other : pending.entrySet()) {
      if (other.getKey() != tx && other.getValue().containsKey(key)) {
        return RowWriter.Outcome.CONFLICT;
      }
    }
    List<Version> versions = committed.getOrDefault(key, List.of());
    if (!mine && !versions.isEmpty() && versions.getLast().lsn() > snapshot) {
      return RowWriter.Outcome.CONFLICT;
    }
    if (value == null && get(tx, snapshot, key) == null) {
      return RowWriter.Outcome.NOTHING;
    }
    of(tx).put(key, new Version(0, value));
    return RowWriter.Outcome.DONE;
  }

  /**
   * Takes back a write that was refused for the sake of another row, which was deleted after the
   * snapshot (protocols.md §41); false if there is none, or the row was there.
   */
  public boolean takeBackRefused(Object tx, long snapshot, byte[] key, boolean wasMine) {
    List<Version> versions = committed.getOrDefault(key, List.of());
    boolean isAbsent = versions.isEmpty() || versions.getLast().value() == null;
    boolean anyDeleted =
        committed.values().stream()
            .flatMap(List::stream)
            .anyMatch(version -> version.value() == null && version.lsn() > snapshot);
    if (wasMine || !isAbsent || !anyDeleted) {
      return false;
    }
    of(tx).remove(key);
    return true;
  }

  /** Whether a transaction has written a row. */
  public boolean hasWritten(Object tx, byte[] key) {
    return of(tx).containsKey(key);
  }

  public void commit(Object tx, long lsn) {
    of(tx)
        .forEach((key, version) ->
            committed
                .computeIfAbsent(key, k -> new ArrayList<>())
                .add(new Version(lsn, version.value())));
    pending.remove(tx);
  }

  public void abort(Object tx) {
    pending.remove(tx);
  }

  /** A crash after which the log ends here. */
  public void crash(long endOfLog) {
    pending.clear();
    committed.values().forEach(versions -> versions.removeIf(v -> v.lsn() > endOfLog));
  }

  /** All keys that ever had a committed version. */
  public Set<byte[]> keys() {
    return committed.keySet();
  }

  /** All rows that a transaction has to see between two keys, null for no end. */
  public NavigableMap<byte[], byte[]> range(
      Object tx, long snapshot, byte @Nullable [] from, byte @Nullable [] to) {
    NavigableMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
    TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    keys.addAll(committed.keySet());
    keys.addAll(of(tx).keySet());
    for (byte[] key : keys) {
      if ((from == null || Arrays.compareUnsigned(key, from) >= 0)
          && (to == null || Arrays.compareUnsigned(key, to) < 0)) {
        byte[] value = get(tx, snapshot, key);
        if (value != null) {
          rows.put(key, value);
        }
      }
    }
    return rows;
  }
}
