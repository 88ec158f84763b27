package org.revenantdb.gc.version;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The keys of deleted rows that have left their leaves although snapshots from before the delete
 * are open, and may see the rows. Such a snapshot finds the key here, and the version in the {@link
 * VolatileStore}. Newer snapshots never meet the row.
 *
 * <p>A transaction with such a snapshot must not write the row: the transaction that deleted it has
 * won.
 *
 * <p>Threads: any. Keys are added by threads that hold the row's leaf latched exclusively.
 */
public final class DepartedRows {
  /*
   * Protocol    docs/protocols.md §48.
   *
   * State       For each table: `rows`, all keys in order with the LSN of their last delete; `recent`, the keys that
   *             were added last, in the order in which they were added; `newest`, the highest LSN of all that were ever
   *             added. The id of a dropped table is not used again.
   *
   * Invariants  P1 a row that has left with a delete at d: `rows` has its key with at least d, newest of its table and
   *             newest are at least d. This holds from before its leaf was unlatched until all snapshots are at or above
   *             d, or none sees the row and the words of UnseenDeletes have it.
   *             P2 a key of `rows` with a delete above LSN s is in one of the chunks of `recent` that are behind the last
   *             one whose newestBefore is at or below s, as long as that chunk is reached.
   *
   * Two orders  A transaction that has just begun looks for the few rows that were deleted since: it goes through the
   *             recent ones, whatever their keys, and through no others, however many they are. A long reader looks for
   *             the keys of a range.
   */
  /** Heap size of an entry without its key: LSN, node and its part of the index. */
  private static final int BYTES = 48;

  /** Heap size of an array without its elements. */
  private static final int ARRAY = 16;

  /** Keys of a chunk of the recent ones. */
  private static final int CHUNK = 256;

  /** Chunks of recent keys. */
  private static final int CHUNKS = 16;

  private final LongConsumer takes;
  private final LongConsumer givesBack;
  private final AtomicLong newest = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final Map<Integer, OfTable> tables = new ConcurrentHashMap<>();

  private static final class OfTable {
    private final ConcurrentSkipListMap<byte[], Long> rows =
        new ConcurrentSkipListMap<>(Arrays::compareUnsigned);

    /** Written by one thread at a time, after the key is in {@code rows} and in a chunk. */
    private volatile long newest;

    private volatile @Nullable Chunk last;

    /** Returns whether there was no entry of the key. */
    private boolean add(byte[] key, long deletedAt) {
      Chunk chunk = last;
      if (chunk == null || chunk.count == CHUNK) {
        chunk = new Chunk(newest, chunk);
        chunk.forgetOldest();
      }
      boolean isNew = rows.put(key, deletedAt) == null; // a row is deleted later each time
      chunk.add(key, deletedAt);
      last = chunk;
      newest = Math.max(newest, deletedAt);
      return isNew;
    }
  }

  /** Keys that were added one after the other. */
  private static final class Chunk {
    private final byte[][] keys = new byte[CHUNK][];
    private final long[] deletedAt = new long[CHUNK];

    /** The highest LSN of all keys that were added before those of this chunk. */
    private final long newestBefore;

    private volatile @Nullable Chunk before;
    private volatile int count;

    private Chunk(long newestBefore, @Nullable Chunk before) {
      this.newestBefore = newestBefore;
      this.before = before;
    }

    private void add(byte[] key, long at) {
      int index = count;
      keys[index] = key;
      deletedAt[index] = at;
      count = index + 1;
    }

    private void forgetOldest() {
      Chunk oldest = this;
      for (int kept = 1; kept < CHUNKS && oldest != null; kept++) {
        oldest = oldest.before;
      }
      if (oldest != null) {
        oldest.before = null;
      }
    }
  }

  /**
   * Makes it empty.
   *
   * @param takes receives the memory that an entry will take, before it does
   * @param givesBack receives the memory that an entry no longer takes, afterwards
   */
  DepartedRows(LongConsumer takes, LongConsumer givesBack) {
    this.takes = takes;
    this.givesBack = givesBack;
  }

  private static long bytesOf(byte[] key) {
    return BYTES + ARRAY + ((key.length + 7L) & -8L);
  }

  /**
   * Called before a row leaves its leaf that was deleted by a commit with this LSN.
   *
   * @param key is kept
   */
  void add(int table, byte[] key, long deletedAt) {
    long size = bytesOf(key);
    boolean[] isNew = {false};
    takes.accept(size);
    try {
      tables.compute( // everything inside, or a table that is being dropped would get the key
          table,
          (_, known) -> {
            OfTable those = known == null ? new OfTable() : known;
            isNew[0] = those.add(key, deletedAt);
            return those;
          });
    } finally {
      if (isNew[0]) {
        bytes.addAndGet(size);
      } else {
        givesBack.accept(size);
      }
    }
    newest.accumulateAndGet(deletedAt, Math::max);
  }

  /** Memory of the keys that can be found by range. */
  long bytes() {
    return bytes.get();
  }

  /** The number of keys. */
  public long size() {
    long size = 0;
    for (OfTable those : tables.values()) {
      size += those.rows.size();
    }
    return size;
  }

  /** Decides whether an entry is needed. */
  @FunctionalInterface
  interface Drops {
    /** Whether a key goes. If so, a conflict with its delete is found elsewhere from now on. */
    boolean drops(int table, byte[] key, long deletedAt);
  }

  /**
   * Drops keys that no snapshot needs.
   *
   * @param horizon all open and future snapshots are at or above it
   * @param drops decides about those that were deleted above the horizon
   */
  void forget(long horizon, Drops drops) {
    tables.forEach((table, _) -> {
      tables.computeIfPresent(
          table,
          (_, those) -> {
            if (those.newest > horizon) {
              return those;
            }
            those.rows.forEach((key, deletedAt) -> remove(those, key, deletedAt));
            return null;
          });
    });
    tables.forEach((table, those) ->
        those.rows.forEach((key, deletedAt) -> {
          if (deletedAt <= horizon || drops.drops(table, key, deletedAt)) {
            remove(those, key, deletedAt);
          }
        }));
  }

  private void remove(OfTable those, byte[] key, Long deletedAt) {
    if (those.rows.remove(key, deletedAt)) {
      bytes.addAndGet(-bytesOf(key));
      givesBack.accept(bytesOf(key));
    }
  }

  /** Whether all keys of a table can go. */
  boolean mayForget(long horizon) {
    for (OfTable those : tables.values()) {
      if (those.newest <= horizon) {
        return true;
      }
    }
    return false;
  }

  /** Whether rows of a table have left that a snapshot may see. */
  public boolean anyAfter(int table, long snapshot) {
    if (newest.get() <= snapshot) {
      return false;
    }
    OfTable those = tables.get(table);
    return those != null && those.newest > snapshot;
  }

  /**
   * The LSN of the commit that deleted a row after a snapshot, if the row has left since.
   *
   * @return 0 if it has not
   */
  long after(int table, byte[] key, long snapshot) {
    if (!anyAfter(table, snapshot)) {
      return 0;
    }
    OfTable those = tables.get(table);
    Long deletedAt = those == null ? null : those.rows.get(key);
    return deletedAt != null && deletedAt > snapshot ? deletedAt : 0;
  }

  /**
   * Keys of a range that were deleted after a snapshot and have left. Whether the snapshot sees the
   * rows is for the {@link VolatileStore} to say.
   *
   * <p>Call it after the leaves of the range have been read. A row that was not there any more is
   * found; one that left meanwhile may be found, too.
   *
   * @param from first key, inclusive
   * @param to last key, exclusive; null for after the last
   * @param most how many keys; if there are as many, there may be more behind them
   * @param descending whether the keys come in descending order, from the end of the range
   */
  public List<byte[]> keys(
      int table, byte[] from, byte @Nullable [] to, long snapshot, int most, boolean descending) {
    OfTable those = anyAfter(table, snapshot) ? tables.get(table) : null;
    if (those == null || (to != null && Arrays.compareUnsigned(from, to) >= 0)) {
      return List.of();
    }
    List<byte[]> found = recent(those, from, to, snapshot);
    if (found != null) {
      return ordered(found, most, descending);
    }
    NavigableMap<byte[], Long> range =
        to == null
            ? those.rows.tailMap(from, /* inclusive= */ true)
            : those.rows.subMap(from, /* fromInclusive= */ true, to, /* toInclusive= */ false);
    List<byte[]> inOrder = new ArrayList<>();
    for (Map.Entry<byte[], Long> row : (descending ? range.descendingMap() : range).entrySet()) {
      if (row.getValue() > snapshot) {
        inOrder.add(row.getKey());
        if (inOrder.size() == most) {
          break;
        }
      }
    }
    return inOrder;
  }

  /** From the recent keys, in any order and with repetitions; null if they do not suffice. */
  private static @Nullable List<byte[]> recent(
      OfTable those, byte[] from, byte @Nullable [] to, long snapshot) {
    List<byte[]> found = new ArrayList<>(0);
    for (Chunk chunk = those.last; chunk != null; chunk = chunk.before) {
      for (int i = chunk.count - 1; i >= 0; i--) {
        if (chunk.deletedAt[i] > snapshot && isIn(chunk.keys[i], from, to)) {
          found.add(chunk.keys[i]);
        }
      }
      if (chunk.newestBefore <= snapshot) {
        return found;
      }
    }
    return null;
  }

  private static boolean isIn(byte[] key, byte[] from, byte @Nullable [] to) {
    return Arrays.compareUnsigned(key, from) >= 0
        && (to == null || Arrays.compareUnsigned(key, to) < 0);
  }

  private static List<byte[]> ordered(List<byte[]> keys, int most, boolean descending) {
    if (keys.size() < 2) {
      return keys;
    }
    keys.sort(Arrays::compareUnsigned);
    List<byte[]> different = new ArrayList<>(keys.size());
    for (byte[] key : keys) {
      if (different.isEmpty() || !Arrays.equals(different.getLast(), key)) {
        different.add(key);
      }
    }
    if (descending) {
      Collections.reverse(different);
    }
    return different.size() <= most ? different : different.subList(0, most);
  }
}
