package org.revenantdb.gc.version;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Remembers deleted rows that were removed while snapshots from before the delete were open,
 * because none of these snapshots sees the row. A transaction with such a snapshot must not insert
 * the row: the first updater, which deleted it, has won.
 *
 * <p>It keeps an upper bound of the delete's LSN for each row. Rows of one table with the same hash
 * share it. So a transaction that begins to write long after it began to read may be refused
 * without need.
 *
 * <p>Threads: any thread that holds the row's leaf latched exclusively.
 */
public final class UnseenDeletes {
  /*
   * Protocol    docs/protocols.md §41.
   *
   * Invariants  U1 for a row that was removed, with a delete at d: newest, newest of its table and the word of its
   *             hash are at least d. This holds from before its leaf was unlatched until all snapshots are at or
   *             above d. These values only rise.
   */
  /** Words of a table, 64 KiB: a power of two. */
  private static final int WORDS = 1 << 13;

  private final DepartedRows departed;
  private final AtomicLong newest = new AtomicLong();
  private final Map<Integer, OfTable> tables = new ConcurrentHashMap<>();

  /** The words of one table. The id of a dropped table is not used again. */
  private static final class OfTable {
    private final AtomicLong newest = new AtomicLong();
    private final AtomicLongArray words = new AtomicLongArray(WORDS);
  }

  /**
   * Remembers no row.
   *
   * @param departed has the rows that a snapshot may see, each by its key
   */
  UnseenDeletes(DepartedRows departed) {
    this.departed = departed;
  }

  /** Called before a row is removed that was deleted by a commit with this LSN. */
  void taken(int table, byte[] key, long deletedAt) {
    tables.compute( // everything inside, or words that are being dropped would be raised
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
   * Drops the words of tables for which no conflict is possible any more.
   *
   * @param horizon all open and future snapshots are at or above it
   */
  void forget(long horizon) {
    for (Integer table : tables.keySet()) {
      tables.computeIfPresent(table, (_, those) -> those.newest.get() <= horizon ? null : those);
    }
  }

  /** The number of tables for which words are kept. */
  int tables() {
    return tables.size();
  }

  /** Whether there is a row of a table that must not be inserted through a snapshot. */
  public boolean anyAfter(int table, long snapshot) {
    return departed.anyAfter(table, snapshot) || anyTakenAfter(table, snapshot);
  }

  private boolean anyTakenAfter(int table, long snapshot) {
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
    // First the keys: one that is dropped there has its word before.
    long exactly = departed.after(table, key, snapshot);
    if (exactly != 0 || newest.get() <= snapshot) {
      return exactly;
    }
    OfTable those = tables.get(table);
    long deletedAt = those == null ? 0 : those.words.get(wordOf(key));
    return deletedAt > snapshot ? deletedAt : 0;
  }

  private static int wordOf(byte[] key) {
    return ((Arrays.hashCode(key) * 0x9E3779B9) >>> 16) & (WORDS - 1);
  }
}
