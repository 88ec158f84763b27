package org.revenantdb.engine.version;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;

/**
 * Older versions of rows, which serve snapshots and nothing else: never logged, gone with the
 * process (design §8).
 *
 * <p>A row's leaf holds its current version and the committed one before it; what was before that
 * and is still needed by a snapshot is here, newest first, found by table and key, never by place
 * (R27). A version is put here before the page changes, under the page's exclusive latch; it is
 * read under the page's latch. Thread-safe.
 */
public final class VolatileStore {
  /**
   * One version.
   *
   * @param committedAt its commit LSN, 0 when it is older than every snapshot
   * @param supersededAt the commit LSN of the version after it: snapshots at or above that do not
   *     need this one
   * @param flags as in a leaf cell
   * @param value its bytes in the cell
   * @param older an older version that was needed when this one was added
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Version(
      long committedAt, long supersededAt, int flags, byte[] value, @Nullable Version older) {}

  @SuppressWarnings("ArrayRecordComponent") // equals and hashCode are its own
  private record Key(int table, byte[] bytes) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Key that && table == that.table && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
      return 31 * table + Arrays.hashCode(bytes);
    }
  }

  private final Map<Key, Version> chains = new ConcurrentHashMap<>();

  /** An empty store. */
  public VolatileStore() {}

  /** Adds a version that is about to leave its page and that some snapshot needs. */
  public void push(
      int table, byte[] key, long committedAt, long supersededAt, int flags, byte[] value) {
    chains.compute(
        new Key(table, key),
        (k, chain) -> new Version(committedAt, supersededAt, flags, value, chain));
  }

  /**
   * The version that a snapshot sees, or null when there is none: it may have been deleted before
   * the snapshot, its delete mark cleaned away, and the leaf now hold somebody's insert that the
   * snapshot does not see.
   */
  public @Nullable Version find(int table, byte[] key, long snapshot) {
    if (chains.isEmpty()) {
      return null;
    }
    Version version = chains.get(new Key(table, key));
    while (version != null && version.committedAt() > snapshot) {
      version = version.older();
    }
    return version != null && version.supersededAt() > snapshot ? version : null;
  }

  /** Drops every version that no snapshot of the set, and none to come, needs. */
  public void prune(SnapshotSet snapshots) {
    for (Key key : chains.keySet()) {
      chains.computeIfPresent(key, (k, chain) -> needed(chain, snapshots));
    }
  }

  private static @Nullable Version needed(Version chain, SnapshotSet snapshots) {
    List<Version> kept = new ArrayList<>();
    boolean all = true;
    for (Version version = chain; version != null; version = version.older()) {
      if (snapshots.needs(version.committedAt(), version.supersededAt())) {
        kept.add(version);
      } else {
        all = false;
      }
    }
    if (all) {
      return chain;
    }
    Version rest = null;
    for (int i = kept.size() - 1; i >= 0; i--) {
      Version version = kept.get(i);
      rest =
          new Version(
              version.committedAt(),
              version.supersededAt(),
              version.flags(),
              version.value(),
              rest);
    }
    return rest;
  }

  /** Is shown a version. */
  @FunctionalInterface
  public interface Visitor {
    /**
     * A version of a row.
     *
     * @param table the row's table
     * @param key its key
     * @param version the version
     */
    void version(int table, byte[] key, Version version);
  }

  /** Shows every version that some snapshot of the set needs for certain. */
  public void forEachNeeded(SnapshotSet snapshots, Visitor visitor) {
    chains.forEach((key, chain) -> {
      for (Version version = chain; version != null; version = version.older()) {
        // Above the bound there may be a snapshot; what is asked for is one that there is.
        long superseded = Math.min(version.supersededAt(), snapshots.bound());
        if (snapshots.needs(version.committedAt(), superseded)) {
          visitor.version(key.table(), key.bytes(), version);
        }
      }
    });
  }

  /** How many rows have versions here. */
  public int rows() {
    return chains.size();
  }
}
