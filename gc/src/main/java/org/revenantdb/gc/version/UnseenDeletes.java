package org.revenantdb.gc.version;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What is still known of deleted rows that were taken away while snapshots from before the delete
 * were open, none of which sees the row: nobody may insert it through one of these. The first
 * updater, who deleted it, has won.
 *
 * <p>An upper bound of the delete's LSN for each row, which it shares with those of its table that
 * have the same hash: so one who began to write long after he began to read may be refused for
 * nothing.
 *
 * <p>Threads: any, with the row's leaf latched exclusively.
 */
public final class UnseenDeletes {
  /*
   * Protocol    docs/protocols.md §41.
   *
   * Invariants  U1 of a row that was taken away with a delete at d: newest, newest of its table and the word of its
   *             hash are d at least, from before its leaf was unlatched on, until all snapshots are at or above d. They
   *             only rise.
   */
  /** Words of a table, 64 KiB: a power of two. */
  private static final int WORDS = 1 << 13;

  private final AtomicLong newest = new AtomicLong();
  private final Map<Integer, OfTable> tables = new ConcurrentHashMap<>();

  /** Those of one table; one that was dropped has an id that is not used again. */
  private static final class OfTable {
    private final AtomicLong newest = new AtomicLong();
    private final AtomicLongArray words = new AtomicLongArray(WORDS);
  }

  /** A row is about to be taken away, which was deleted by a commit with this LSN. */
  void taken(int table, byte[] key, long deletedAt) {
    tables.compute( // all of it, or those that are dropped meanwhile would be raised
        table,
        (_, known) -> {
          OfTable those = known == null ? new OfTable() : known;
          those.words.accumulateAndGet(wordOf(key), deletedAt, Math::max);
          those.newest.accumulateAndGet(deletedAt, Math::max);
          return those;
        });
    newest.accumulateAndGet(deletedAt, Math::max);
  }

  /**
   * Drops those of tables where nobody can be in conflict any more.
   *
   * @param horizon all snapshots, open or to come, are at or above it
   */
  void forget(long horizon) {
    for (Integer table : tables.keySet()) {
      tables.computeIfPresent(table, (_, those) -> those.newest.get() <= horizon ? null : those);
    }
  }

  /** Of how many tables words are kept. */
  int tables() {
    return tables.size();
  }

  /** Whether there is a row of a table that must not be inserted through a snapshot. */
  public boolean anyAfter(int table, long snapshot) {
    if (newest.get() <= snapshot) {
      return false;
    }
    OfTable those = tables.get(table);
    return those != null && those.newest.get() > snapshot;
  }

  /**
   * Whether a row that is not in its leaf must not be inserted through a snapshot.
   *
   * @return the LSN of a commit that deleted it after the snapshot, or of a later one; 0 if none
   *     did
   */
  public long after(int table, byte[] key, long snapshot) {
    if (newest.get() <= snapshot) {
      return 0;
    }
    OfTable those = tables.get(table);
    long deletedAt = those == null ? 0 : those.words.get(wordOf(key));
    return deletedAt > snapshot ? deletedAt : 0;
  }

  private static int wordOf(byte[] key) {
    return ((Arrays.hashCode(key) * 0x9E3779B9) >>> 16) & (WORDS - 1);
  }
}
