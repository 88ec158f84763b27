package org.revenantdb.engine.sort;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes of rows in memory. They come in any order. They leave in the order of their keys, and of
 * each key only the last one.
 *
 * <p>Threads: one at a time.
 */
final class GatheredChanges {
  /*
   * Keys and values are copied into chunks: small arrays that live for long are expensive for the garbage collector.
   * SortedChanges has the drawing of a change. A change has a place, which is the chunk and the offset there.
   *
   * The order is found from the beginnings of the keys, byte by byte from the last one to the first, each time with as
   * many steps as there are changes. Bytes that all keys have in common are left out. Changes whose keys have the same
   * beginning are merged by their whole keys. All of it keeps the changes of a key in their order.
   */
  private static final int CHUNK = 1 << 18;
  private static final int FIRST_CHUNK = 1 << 12; // many sorts have few rows
  private static final int FIRST_ROOM = 64;
  private static final int VALUES = 1 << Byte.SIZE;

  /** However much memory there is: numbers and arrays have room for more. */
  private static final int MOST = 1 << 29;

  /** For place and beginning of a change: there is room for more of them than there are. */
  private static final int PER_ROOM = 2 * Long.BYTES;

  /** For the number of a change in two orders. */
  private static final int PER_CHANGE = 2 * Integer.BYTES;

  private final List<byte[]> chunks = new ArrayList<>();

  /** Where the last chunk is free. */
  private int free;

  private long[] places = {};
  private long[] beginnings = {};
  private int count;

  /** Bytes of all chunks. */
  private long inChunks;

  /** Bytes of all changes. */
  private long length;

  /**
   * Adds a change.
   *
   * @param value null for a deletion
   */
  void add(byte[] key, byte @Nullable [] value) {
    int at = begin(key, value == null ? SortedChanges.DELETED : value.length);
    if (value != null) {
      System.arraycopy(value, 0, chunks.getLast(), at, value.length);
    }
    count++;
  }

  /** Adds a change whose value is in the file for large values. */
  void addBeside(byte[] key, long position, long valueLength) {
    int at = begin(key, SortedChanges.BESIDE);
    SortedChanges.putPlace(chunks.getLast(), at, position, valueLength);
    count++;
  }

  /** Puts header and key of a change in place, and returns where its value goes. */
  private int begin(byte[] key, int valueLength) {
    int bytes = SortedChanges.length(key.length, valueLength);
    if (!hasRoomInChunk(bytes)) {
      byte[] chunk = new byte[nextChunk(bytes)];
      chunks.add(chunk);
      free = 0;
      inChunks += chunk.length;
    }
    if (count == places.length) {
      int room = nextRoom();
      places = Arrays.copyOf(places, room);
      beginnings = Arrays.copyOf(beginnings, room);
    }
    byte[] chunk = chunks.getLast();
    places[count] = (long) (chunks.size() - 1) << Integer.SIZE | free;
    beginnings[count] = SortedChanges.beginning(key, 0, key.length);
    SortedChanges.putHeader(chunk, free, key.length, valueLength);
    int keyStart = free + SortedChanges.HEADER;
    System.arraycopy(key, 0, chunk, keyStart, key.length);
    free += bytes;
    length += bytes;
    return keyStart + key.length;
  }

  private boolean hasRoomInChunk(int bytes) {
    return !chunks.isEmpty() && chunks.getLast().length - free >= bytes;
  }

  private int nextChunk(int bytes) {
    int usual = chunks.isEmpty() ? FIRST_CHUNK : 2 * Math.min(chunks.getLast().length, CHUNK / 2);
    return Math.max(usual, bytes);
  }

  private int nextRoom() {
    return Math.max(FIRST_ROOM, count + count / 2);
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** The number of changes. */
  int count() {
    return count;
  }

  /** The memory that the changes take, and that their order will take. */
  long memory() {
    return inChunks + (long) places.length * PER_ROOM + (long) count * PER_CHANGE;
  }

  /** What {@link #memory} is behind one more change; more than any memory if none has room. */
  long memoryWith(int keyLength, int valueLength) {
    if (count == MOST) {
      return Long.MAX_VALUE;
    }
    int bytes = SortedChanges.length(keyLength, valueLength);
    long chunk = hasRoomInChunk(bytes) ? 0 : nextChunk(bytes);
    long room = count < places.length ? 0 : (long) (nextRoom() - places.length) * PER_ROOM;
    return memory() + chunk + room + PER_CHANGE;
  }

  /** How long a run of the changes is, if no key came twice. */
  long length() {
    return length;
  }

  /** Forgets all changes, and gives their memory back. */
  void clear() {
    chunks.clear();
    free = 0;
    places = new long[0];
    beginnings = new long[0];
    count = 0;
    inChunks = 0;
    length = 0;
  }

  /** The last change of each key, in the order of the keys. No change may be added meanwhile. */
  SortedChanges sorted() {
    return new Sorted(order());
  }

  private final class Sorted extends SortedChanges {
    private final int[] order;
    private int index;

    /** The beginning of the key of the change at the index: each is looked up once. */
    private long ahead;

    Sorted(int[] order) {
      this.order = order;
      this.ahead = count == 0 ? 0 : beginnings[order[0]];
    }

    @Override
    public boolean next() {
      if (index == count) {
        return false;
      }
      int change = order[index];
      long keyBeginning = ahead;
      index++;
      while (index < count) {
        int following = order[index];
        ahead = beginnings[following];
        if (ahead != keyBeginning || compareKeys(change, following) != 0) {
          break;
        }
        change = following; // a later one of the same key
        index++;
      }
      at(chunk(change), offset(change), keyBeginning);
      return true;
    }
  }

  /** The numbers of the changes by their keys; those of one key as they came. */
  private int[] order() {
    int[] from = new int[count];
    for (int i = 0; i < count; i++) {
      from[i] = i;
    }
    int[] to = new int[count];
    long different = differentBits();
    int[] ends = new int[VALUES];
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      if ((different >>> shift & 0xFF) != 0) {
        distribute(from, to, shift, ends);
        int[] distributed = to;
        to = from;
        from = distributed;
      }
    }
    mergeEqualBeginnings(from, to);
    return from;
  }

  /** The bits of the beginnings that are not the same in all of them. */
  private long differentBits() {
    long different = 0;
    for (int i = 1; i < count; i++) {
      different |= beginnings[i] ^ beginnings[0];
    }
    return different;
  }

  /** Orders by one byte of the beginnings; equal ones stay in their order. */
  private void distribute(int[] from, int[] to, int shift, int[] next) {
    Arrays.fill(next, 0);
    for (int i = 0; i < count; i++) {
      next[(int) (beginnings[i] >>> shift) & 0xFF]++;
    }
    int start = 0;
    for (int value = 0; value < VALUES; value++) {
      int changes = next[value];
      next[value] = start;
      start += changes;
    }
    for (int i = 0; i < count; i++) {
      int change = from[i];
      to[next[(int) (beginnings[change] >>> shift) & 0xFF]++] = change;
    }
  }

  private void mergeEqualBeginnings(int[] order, int[] room) {
    int start = 0;
    for (int i = 1; i <= count; i++) {
      if (i == count || beginnings[order[i]] != beginnings[order[start]]) {
        if (i - start > 1) {
          merge(order, room, start, i);
        }
        start = i;
      }
    }
  }

  /** Orders a part by the whole keys; equal ones stay in their order. */
  private void merge(int[] order, int[] room, int start, int end) {
    int[] from = order;
    int[] to = room;
    boolean isInRoom = false;
    for (int run = 1; run < end - start; run *= 2) {
      for (int first = start; first < end; first += 2 * run) {
        merge(from, to, first, Math.min(first + run, end), Math.min(first + 2 * run, end));
      }
      int[] merged = to;
      to = from;
      from = merged;
      isInRoom = !isInRoom;
    }
    if (isInRoom) {
      System.arraycopy(from, start, order, start, end - start);
    }
  }

  private void merge(int[] from, int[] to, int first, int second, int end) {
    if (second == end || compareKeys(from[second - 1], from[second]) <= 0) {
      System.arraycopy(from, first, to, first, end - first);
      return;
    }
    int left = first;
    int right = second;
    for (int i = first; i < end; i++) {
      to[i] =
          right == end || (left < second && compareKeys(from[left], from[right]) <= 0)
              ? from[left++]
              : from[right++];
    }
  }

  private int compareKeys(int a, int b) {
    byte[] chunkA = chunk(a);
    byte[] chunkB = chunk(b);
    int keyA = offset(a) + SortedChanges.HEADER;
    int keyB = offset(b) + SortedChanges.HEADER;
    return Arrays.compareUnsigned(
        chunkA,
        keyA,
        keyA + SortedChanges.keyLength(chunkA, offset(a)),
        chunkB,
        keyB,
        keyB + SortedChanges.keyLength(chunkB, offset(b)));
  }

  private byte[] chunk(int change) {
    return chunks.get((int) (places[change] >>> Integer.SIZE));
  }

  private int offset(int change) {
    return (int) places[change];
  }
}
