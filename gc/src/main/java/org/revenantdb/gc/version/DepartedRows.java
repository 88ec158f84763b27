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
   *             P4 a key with a delete above s is in one of the recent chunks behind the last one whose newestBefore is
   *             at or below s, as long as there is such a chunk.
   *
   * Two orders  A transaction that has just begun looks for the few rows that were deleted since: it goes through the
   *             recent ones, whatever their keys, and through no others, however many they are. A long reader looks for
   *             the keys of a range. A search in one of the two ends when it has looked at as many keys as the other
   *             would have to, and then that one is used.
   */
  /** Heap size of an entry without its key: LSN, node and its part of the index. */
  private static final int BYTES = 48;

  /** Heap size of an array without its elements. */
  private static final int ARRAY = 16;

  /** Keys of the first chunk of a table, which most tables do without. */
  private static final int FIRST_CHUNK = 16;

  /** Keys of each other chunk. */
  private static final int CHUNK = 256;

  /** The most chunks of recent keys of a table. */
  private static final int CHUNKS = 256;

  /** The most bytes of keys in these chunks. */
  private static final int CHUNK_BYTES = 1 << 20;

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
      if (chunk == null) {
        chunk = new Chunk(FIRST_CHUNK, newest, /* before= */ null);
      } else if (chunk.isFull()) {
        chunk = new Chunk(CHUNK, newest, chunk);
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
    private final byte[][] keys;
    private final long[] deletedAt;

    /** The highest LSN of all keys that were added before those of this chunk. */
    private final long newestBefore;

    private volatile @Nullable Chunk before;
    private volatile int count;

    /** Used only by the thread that adds. */
    private int keyBytes;

    private Chunk(int size, long newestBefore, @Nullable Chunk before) {
      this.keys = new byte[size][];
      this.deletedAt = new long[size];
      this.newestBefore = newestBefore;
      this.before = before;
    }

    private boolean isFull() {
      return count == keys.length;
    }

    private void add(byte[] key, long at) {
      int index = count;
      keys[index] = key;
      deletedAt[index] = at;
      keyBytes += key.length;
      count = index + 1;
    }

    /** Forgets older chunks if they are too many, or their keys too long. */
    private void forgetOldest() {
      int chunks = 1;
      int together = 0;
      for (Chunk chunk = this; chunk != null; chunk = chunk.before) {
        together += chunk.keyBytes;
        if (chunks == CHUNKS || together > CHUNK_BYTES) {
          chunk.before = null;
        }
        chunks++;
      }
    }
  }

  /**
   * Keys of a range.
   *
   * @param keys in the order that was asked for
   * @param end the last key that was looked at, if the range goes on behind it; else null
   */
  public record Found(List<byte[]> keys, byte @Nullable [] end) {
    /** There is none. */
    public static final Found NOTHING = new Found(List.of(), /* end= */ null);

    /** Whether there is none, and none behind. */
    public boolean isNothing() {
      return keys.isEmpty() && end == null;
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
    takes.accept(size);
    bytes.addAndGet(size);
    boolean isNew = true; // an error may leave the key in the map: then it must be counted
    try {
      isNew = addTo(table, key, deletedAt);
    } finally {
      if (!isNew) {
        bytes.addAndGet(-size);
        givesBack.accept(size);
      }
    }
    newest.accumulateAndGet(deletedAt, Math::max);
  }

  private boolean addTo(int table, byte[] key, long deletedAt) {
    boolean[] isNew = {true};
    boolean[] isDone = {false};
    while (!isDone[0]) {
      if (tables.get(table) == null) { // an error in growing the map must not lose the key
        tables.putIfAbsent(table, new OfTable());
      }
      tables.computeIfPresent( // inside, or a table that is being dropped would get the key
          table,
          (_, those) -> {
            isNew[0] = those.add(key, deletedAt);
            isDone[0] = true;
            return those;
          });
    }
    return isNew[0];
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
   * Drops all keys of tables of which every key was deleted at or below the horizon.
   *
   * @param horizon all open and future snapshots are at or above it
   */
  void forgetTables(long horizon) {
    for (Integer table : tables.keySet()) {
      OfTable[] gone = {null};
      tables.computeIfPresent(
          table,
          (_, those) -> {
            if (those.newest > horizon) {
              return those;
            }
            gone[0] = those;
            return null;
          });
      if (gone[0] != null) { // outside: a thread that adds a key has a leaf latched
        OfTable those = gone[0];
        those.rows.forEach((key, deletedAt) -> remove(those, key, deletedAt));
      }
    }
  }

  /**
   * Drops keys that no snapshot needs. Goes through all keys.
   *
   * @param horizon all open and future snapshots are at or above it
   * @param drops decides about those that were deleted above the horizon
   */
  void forget(long horizon, Drops drops) {
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
  boolean mayForgetTables(long horizon) {
    for (OfTable those : tables.values()) {
      if (those.newest <= horizon) {
        return true;
      }
    }
    return false;
  }

  /** Whether rows of a table have left that a snapshot may see. */
  public boolean anyAfter(int table, long snapshot) {
    return after(table, snapshot) != null;
  }

  private @Nullable OfTable after(int table, long snapshot) {
    if (newest.get() <= snapshot) {
      return null;
    }
    OfTable those = tables.get(table);
    return those != null && those.newest > snapshot ? those : null;
  }

  /**
   * The LSN of the commit that deleted a row after a snapshot, if the row has left since.
   *
   * @return 0 if it has not
   */
  long after(int table, byte[] key, long snapshot) {
    OfTable those = after(table, snapshot);
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
   * @param most the most keys that are returned
   * @param descending whether the keys come in descending order, from the end of the range
   */
  public Found keys(
      int table, byte[] from, byte @Nullable [] to, long snapshot, int most, boolean descending) {
    OfTable those = after(table, snapshot);
    if (those == null || (to != null && Arrays.compareUnsigned(from, to) >= 0)) {
      return Found.NOTHING;
    }
    Chunk last = those.last;
    int recent = recent(last, snapshot);
    if (recent > CHUNK || recent < 0) {
      Found found =
          inOrder(
              those, from, to, snapshot, most, descending, recent < 0 ? Integer.MAX_VALUE : recent);
      if (found != null) {
        return found;
      }
    }
    return recent(last, from, to, snapshot, most, descending);
  }

  /** How many recent keys have to be looked at for a snapshot; -1 if more than are known. */
  private static int recent(@Nullable Chunk last, long snapshot) {
    int keys = 0;
    for (Chunk chunk = last; chunk != null; chunk = chunk.before) {
      keys += chunk.count;
      if (chunk.newestBefore <= snapshot) {
        return keys;
      }
    }
    return -1;
  }

  /** From all keys; null if more would have to be looked at than that. */
  private static @Nullable Found inOrder(
      OfTable those,
      byte[] from,
      byte @Nullable [] to,
      long snapshot,
      int most,
      boolean descending,
      int atMost) {
    NavigableMap<byte[], Long> range =
        to == null
            ? those.rows.tailMap(from, /* inclusive= */ true)
            : those.rows.subMap(from, /* fromInclusive= */ true, to, /* toInclusive= */ false);
    List<byte[]> found = new ArrayList<>();
    int looks = 0;
    for (Map.Entry<byte[], Long> row : (descending ? range.descendingMap() : range).entrySet()) {
      if (looks++ == atMost) {
        return null;
      }
      if (row.getValue() > snapshot) {
        found.add(row.getKey());
        if (found.size() == most) {
          return new Found(found, row.getKey());
        }
      }
    }
    return found.isEmpty() ? Found.NOTHING : new Found(found, /* end= */ null);
  }

  /** From the recent keys, which reach back to the snapshot. */
  private static Found recent(
      @Nullable Chunk last,
      byte[] from,
      byte @Nullable [] to,
      long snapshot,
      int most,
      boolean descending) {
    List<byte[]> found = new ArrayList<>(0);
    for (Chunk chunk = last; chunk != null; chunk = chunk.before) {
      for (int i = chunk.count - 1; i >= 0; i--) {
        if (chunk.deletedAt[i] > snapshot && isIn(chunk.keys[i], from, to)) {
          found.add(chunk.keys[i]);
        }
      }
      if (chunk.newestBefore <= snapshot) {
        break;
      }
    }
    return found.isEmpty() ? Found.NOTHING : ordered(found, most, descending);
  }

  private static boolean isIn(byte[] key, byte[] from, byte @Nullable [] to) {
    return Arrays.compareUnsigned(key, from) >= 0
        && (to == null || Arrays.compareUnsigned(key, to) < 0);
  }

  private static Found ordered(List<byte[]> keys, int most, boolean descending) {
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
    return different.size() <= most
        ? new Found(different, /* end= */ null)
        : new Found(different.subList(0, most), different.get(most - 1));
  }
}
