package org.revenantdb.jmh.baseline;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;

/**
 * Former versions by their rows: lists in buckets, newest first. Readers take no lock.
 *
 * <p>Versions that no snapshot needs leave their bucket when the next version is added to it. So
 * the number of buckets bounds the rest, and no search for garbage is needed.
 */
final class FormerVersionIndex {
  private static final int BUCKETS = 1 << 16;
  private static final int LOCKS = 1 << 8;

  private final AtomicReferenceArray<@Nullable FormerVersion> newest =
      new AtomicReferenceArray<>(BUCKETS);
  private final Object[] locks = IntStream.range(0, LOCKS).mapToObj(_ -> new Object()).toArray();

  private static int bucket(int hash) {
    return hash & (BUCKETS - 1);
  }

  /** Adds a version, before its row changes. */
  void add(FormerVersion version, SnapshotSet snapshots) {
    int bucket = bucket(version.hash);
    synchronized (locks[bucket & (LOCKS - 1)]) {
      drop(bucket, snapshots);
      version.next = newest.get(bucket);
      newest.set(bucket, version);
    }
  }

  /** A reader at a removed version continues from there to those that stay. */
  private void drop(int bucket, SnapshotSet snapshots) {
    FormerVersion before = null;
    FormerVersion version = newest.get(bucket);
    while (version != null) {
      FormerVersion next = version.next;
      if (snapshots.needs(version.committedAt, version.supersededAt)) {
        before = version;
      } else if (before == null) {
        newest.set(bucket, next);
      } else {
        before.next = next;
      }
      version = next;
    }
  }

  /** The content of a row before a transaction updated it, null if it did not. */
  @Nullable FormerVersion supersededBy(long id, int table, byte[] key) {
    for (FormerVersion version = first(table, key); version != null; version = version.next) {
      if (version.superseder == id && version.isOf(table, key)) {
        return version;
      }
    }
    return null;
  }

  /** The version of a row that a snapshot sees, null if there is none. */
  @Nullable FormerVersion seenBy(long snapshot, int table, byte[] key) {
    for (FormerVersion version = first(table, key); version != null; version = version.next) {
      if (version.isSeenBy(snapshot) && version.isOf(table, key)) {
        return version;
      }
    }
    return null;
  }

  private @Nullable FormerVersion first(int table, byte[] key) {
    return newest.get(bucket(FormerVersion.hash(table, key)));
  }
}
