package org.revenantdb.jmh.baseline;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The content of a row before a transaction updated it.
 *
 * <p>Its end of life and its neighbours in the index change; everything else does not.
 */
final class FormerVersion {
  /** The end of life of a version whose superseder has not ended. */
  static final long OPEN = Long.MAX_VALUE;

  final int table;
  final byte[] key;
  final long writer;
  final long committedAt;
  final int flags;
  final byte[] value;
  final long superseder;
  final int hash;

  /** The commit LSN of its superseder, or where the log was when the row was put back. */
  volatile long supersededAt = OPEN;

  /** In the index; changed under a lock. */
  volatile @Nullable FormerVersion next;

  /** Whether its row has it again; of the superseder's thread. */
  boolean isPutBack;

  FormerVersion(
      int table,
      byte[] key,
      long writer,
      long committedAt,
      int flags,
      byte[] value,
      long superseder) {
    this.table = table;
    this.key = key;
    this.writer = writer;
    this.committedAt = committedAt;
    this.flags = flags;
    this.value = value;
    this.superseder = superseder;
    this.hash = hash(table, key);
  }

  static int hash(int table, byte[] key) {
    int hash = 31 * table + Arrays.hashCode(key);
    return hash ^ hash >>> 16;
  }

  boolean isOf(int otherTable, byte[] otherKey) {
    return table == otherTable && Arrays.equals(key, otherKey);
  }

  boolean isSeenBy(long snapshot) {
    return committedAt <= snapshot && (supersededAt > snapshot || snapshot == OPEN);
  }
}
