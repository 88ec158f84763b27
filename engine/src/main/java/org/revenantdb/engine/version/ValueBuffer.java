package org.revenantdb.engine.version;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a read of several keys has found, by the place of the keys in ascending order. Values are
 * copied from pages to one array, so a value needs no object. Reusable; for one thread at a time.
 */
public final class ValueBuffer {
  /*
   * Place       of a key: below zero one of the constants of RowReader, or OTHER: an object has the value; else chunk,
   *             offset in it and length of the value
   * Chunks      A value is in one chunk. Each chunk is twice as long as the last one, up to a limit. So nothing is copied
   *             when there are more values than expected, and one chunk is mostly sufficient the next time.
   * Mark        Values behind it do not count yet (protocols.md §62): all of them are dropped at once.
   */
  /** The value is in an object, which has it or leads to it. */
  private static final long OTHER = -100;

  private static final int FIRST_BYTES = 4 << 10;
  private static final int MOST_BYTES = 1 << 20;

  /** What a buffer keeps when it is cleared. */
  private static final int KEPT = 64 << 10;

  private static final int CHUNK_SHIFT = 40;
  private static final int OFFSET_SHIFT = 16;

  private byte[][] chunks = {new byte[FIRST_BYTES]};
  private int chunk;
  private int used;
  private int markedChunk;
  private int markedUsed;
  private int heldChunk;
  private int keys;

  private long[] places = {};
  private @Nullable StoredValue[] others = {};

  /** Makes a buffer without values. */
  public ValueBuffer() {}

  /** Drops all values, and makes room for those of so many keys. */
  void begin(int count) {
    clear();
    keys = count;
    if (places.length < count) {
      places = new long[Math.max(count, 2 * places.length)];
    }
  }

  /** Drops all values, and memory that is seldom needed. */
  public void clear() {
    if (chunks.length > 1) {
      byte[] last = chunks[chunks.length - 1];
      byte[] first = chunks[0];
      chunks =
          new byte[][] {last.length <= KEPT ? last : first.length == KEPT ? first : new byte[KEPT]};
    }
    chunk = 0;
    used = 0;
    heldChunk = 0;
    if (others.length > 0) {
      others = new @Nullable StoredValue[0];
    }
  }

  /** Remembers which values there are. */
  void mark() {
    markedChunk = chunk;
    markedUsed = used;
  }

  /** Drops the values that were copied since the {@link #mark}. */
  void backToMark() {
    chunk = markedChunk;
    used = markedUsed;
  }

  /** Makes room for a value of this length in {@link #chunk}. */
  void room(int length) {
    if (chunks[chunk].length - used < length) {
      nextChunk(length);
    }
  }

  private void nextChunk(int length) {
    int before = chunks[chunk].length;
    chunk++;
    used = 0;
    if (chunk == chunks.length) {
      chunks = Arrays.copyOf(chunks, chunk + 1);
      chunks[chunk] = new byte[Math.max(length, Math.min(MOST_BYTES, 2 * before))];
    }
  }

  /** The array to which the next value is copied. */
  byte[] chunk() {
    return chunks[chunk];
  }

  /** Where in {@link #chunk} it begins. */
  int used() {
    return used;
  }

  /** So many bytes were copied, which have values of several keys. */
  void hold(int length) {
    heldChunk = chunk;
    used += length;
  }

  /** The value of a key is among those bytes. */
  void held(int place, int offset, int length) {
    places[place] = (long) heldChunk << CHUNK_SHIFT | (long) offset << OFFSET_SHIFT | length;
  }

  /** The next value was copied, and is that of a key. */
  void copied(int place, int length) {
    places[place] = (long) chunk << CHUNK_SHIFT | (long) used << OFFSET_SHIFT | length;
    used += length;
  }

  /** The key has no value in the buffer, for this reason. */
  void none(int place, long reason) {
    places[place] = reason;
  }

  /** The value of a key was found elsewhere; null if there is no row. */
  void other(int place, @Nullable StoredValue value) {
    if (value == null) {
      places[place] = RowReader.PLACE_NO_ROW;
      return;
    }
    if (others.length == 0) {
      others = new @Nullable StoredValue[keys];
    }
    others[place] = value;
    places[place] = OTHER;
  }

  /** Where the value of a key is, as far as it is known. */
  long reason(int place) {
    return places[place];
  }

  /** Whether the row of a key exists. */
  public boolean exists(int place) {
    return places[place] != RowReader.PLACE_NO_ROW;
  }

  /** Whether any value was found elsewhere. */
  public boolean hasOthers() {
    return others.length > 0;
  }

  /** The value of a key that was found elsewhere; null if the value is in the buffer. */
  public @Nullable StoredValue other(int place) {
    return places[place] == OTHER ? others[place] : null;
  }

  /** Replaces a value that was found elsewhere. */
  public void replace(int place, StoredValue value) {
    others[place] = value;
  }

  /** A value of a key in an array of the caller's. */
  public byte[] toArray(int place) {
    StoredValue other = other(place);
    return other == null
        ? Arrays.copyOfRange(array(place), offset(place), offset(place) + length(place))
        : other.bytes();
  }

  /** The array that has the value of a key. */
  public byte[] array(int place) {
    return chunks[(int) (places[place] >>> CHUNK_SHIFT)];
  }

  /** Where in the array the value begins. */
  public int offset(int place) {
    return (int) (places[place] >>> OFFSET_SHIFT) & ((1 << (CHUNK_SHIFT - OFFSET_SHIFT)) - 1);
  }

  /** How many bytes the value has. */
  public int length(int place) {
    return (int) places[place] & ((1 << OFFSET_SHIFT) - 1);
  }
}
