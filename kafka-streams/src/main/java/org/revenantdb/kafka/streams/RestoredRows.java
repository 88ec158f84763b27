package org.revenantdb.kafka.streams;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes of a changelog that are not in the table yet. They come in the order of the changelog.
 * They leave in the order of their keys, and of each key only the last one.
 *
 * <p>Threads: one at a time.
 */
final class RestoredRows {
  /*
   * Keys and values are copied into chunks: small arrays that live for long are expensive for the garbage collector.
   *
   *   length of the key, 2 bytes | length of the value, 4 bytes; -1 for a deletion | key | value
   *
   * A change has a place, which is the chunk and the offset there. The first eight bytes of its key, as a number, decide
   * most comparisons. The order is found by merging. That keeps the changes of a key in their order, and does little if
   * the keys came in order.
   */
  private static final int CHUNK = 1 << 18;
  private static final int FIRST_CHUNK = 1 << 15; // many stores have few rows
  private static final int HEADER = Short.BYTES + Integer.BYTES;
  private static final int DELETED = -1;
  private static final int FIRST_ROOM = 1024;

  /** For place and beginning of a change, and its number in two orders. */
  private static final int PER_CHANGE = 2 * Long.BYTES + 2 * Integer.BYTES;

  private static final byte[] NOTHING = {};

  /** Receives the last change of a key. */
  interface Sink {
    /**
     * A change.
     *
     * @param key may be kept
     * @param value null for a deletion; is used again for the next change
     */
    void accept(byte[] key, byte @Nullable [] value);
  }

  private final List<ByteBuffer> chunks = new ArrayList<>();
  private long[] places = {};
  private long[] beginnings = {};
  private int count;
  private boolean hasDeletions;
  private long bytes;
  private long content;

  /** Adds a change. */
  void add(byte[] key, byte @Nullable [] value) {
    int length = HEADER + key.length + (value == null ? 0 : value.length);
    if (chunks.isEmpty() || chunks.getLast().remaining() < length) {
      int room = Math.max(chunks.isEmpty() ? FIRST_CHUNK : CHUNK, length);
      chunks.add(ByteBuffer.allocate(room));
      bytes += room;
    }
    if (count == places.length) {
      int room = Math.max(FIRST_ROOM, 2 * count);
      places = Arrays.copyOf(places, room);
      beginnings = Arrays.copyOf(beginnings, room);
    }
    ByteBuffer chunk = chunks.getLast();
    places[count] = (long) (chunks.size() - 1) << Integer.SIZE | chunk.position();
    beginnings[count] = beginning(key);
    count++;
    chunk.putShort((short) key.length).putInt(value == null ? DELETED : value.length).put(key);
    if (value == null) {
      hasDeletions = true;
    } else {
      chunk.put(value);
    }
    content += length + PER_CHANGE;
    bytes += PER_CHANGE;
  }

  private static long beginning(byte[] key) {
    long beginning = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      beginning = beginning << Byte.SIZE | (i < key.length ? key[i] & 0xFF : 0);
    }
    return beginning;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Whether one of the changes is a deletion, even if it is not the last of its key. */
  boolean hasDeletions() {
    return hasDeletions;
  }

  /** The memory that the changes take. */
  long bytes() {
    return bytes;
  }

  /** The bytes of the changes and of what is kept for each, without unused room. */
  long contentBytes() {
    return content;
  }

  /** Forgets all changes, and gives their memory back. */
  void clear() {
    chunks.clear();
    places = new long[0];
    beginnings = new long[0];
    count = 0;
    hasDeletions = false;
    bytes = 0;
    content = 0;
  }

  /** Gives the last change of each key, in the order of the keys. */
  void forEach(Sink sink) {
    int[] order = order();
    byte[] value = NOTHING;
    for (int i = 0; i < count; i++) {
      if (i + 1 < count && compare(order[i], order[i + 1]) == 0) {
        continue; // there is a later one
      }
      ByteBuffer chunk = chunk(order[i]);
      int offset = offset(order[i]);
      byte[] key = new byte[chunk.getShort(offset)];
      chunk.get(offset + HEADER, key);
      int length = chunk.getInt(offset + Short.BYTES);
      if (length == DELETED) {
        sink.accept(key, null);
      } else {
        if (length != value.length) {
          value = new byte[length];
        }
        chunk.get(offset + HEADER + key.length, value);
        sink.accept(key, value);
      }
    }
  }

  /** The numbers of the changes by their keys; those of one key as they came. */
  private int[] order() {
    int[] from = new int[count];
    Arrays.setAll(from, i -> i);
    int[] to = new int[count];
    for (int run = 1; run < count; run *= 2) {
      for (int first = 0; first < count; first += 2 * run) {
        merge(from, to, first, Math.min(first + run, count), Math.min(first + 2 * run, count));
      }
      int[] merged = to;
      to = from;
      from = merged;
    }
    return from;
  }

  private void merge(int[] from, int[] to, int first, int second, int end) {
    if (second == end || compare(from[second - 1], from[second]) <= 0) {
      System.arraycopy(from, first, to, first, end - first);
      return;
    }
    int left = first;
    int right = second;
    for (int i = first; i < end; i++) {
      to[i] =
          right == end || (left < second && compare(from[left], from[right]) <= 0)
              ? from[left++]
              : from[right++];
    }
  }

  private int compare(int a, int b) {
    int beginning = Long.compareUnsigned(beginnings[a], beginnings[b]);
    return beginning != 0 ? beginning : compareKeys(a, b);
  }

  private int compareKeys(int a, int b) {
    ByteBuffer chunkA = chunk(a);
    ByteBuffer chunkB = chunk(b);
    int keyA = offset(a) + HEADER;
    int keyB = offset(b) + HEADER;
    int lengthA = chunkA.getShort(offset(a));
    int lengthB = chunkB.getShort(offset(b));
    for (int i = 0; i < Math.min(lengthA, lengthB); i++) {
      int order = Byte.compareUnsigned(chunkA.get(keyA + i), chunkB.get(keyB + i));
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(lengthA, lengthB);
  }

  private ByteBuffer chunk(int change) {
    return chunks.get((int) (places[change] >>> Integer.SIZE));
  }

  private int offset(int change) {
    return (int) places[change];
  }
}
