package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A page that several values share. Each is too large for its row and small enough for one page.
 *
 * <pre>
 *   18 u16 number of slots   20 u16 top   32 slots, 20 bytes each, then free space, then from top on the values
 *   slot: 0 u64 writer   8 u64 superseder   16 u16 offset, 0 = no value   18 u16 length
 * </pre>
 *
 * <p>A slot keeps its number as long as it has a value; a slot without a value is reused. Values
 * lie without gaps, so the free space is one piece.
 */
public final class SharedValues {
  /** The superseder of a value that was moved; no transaction has this id. */
  public static final long MOVED = -1L;

  /** The greatest number of slots of a page: a reference has a byte for the slot. */
  public static final int MAX_SLOTS = 255;

  private static final int COUNT = 18;
  private static final int TOP = 20;
  private static final int FIRST_SLOT = 32;
  private static final int SLOT = 20;
  private static final int SUPERSEDER = 8;
  private static final int OFFSET = 16;
  private static final int LENGTH = 18;

  /** Bytes of the largest value that a page holds. */
  public static final int MAX_VALUE = Page.SIZE - FIRST_SLOT - SLOT;

  /** Fullness of a page whose room is too small to be worth a search. */
  private static final int FULL = 4;

  /**
   * The size of the value for which a page of fullness 1, 2, 3 has room: a half, a third, a fifth
   * of a page. Values have at least an eighth of a page.
   */
  private static final int[] ROOM = {
    0,
    (Page.SIZE - FIRST_SLOT) / 2 - SLOT,
    (Page.SIZE - FIRST_SLOT) / 3 - SLOT,
    (Page.SIZE - FIRST_SLOT) / 5 - SLOT
  };

  private SharedValues() {}

  /** Number of slots, including those without a value. */
  public static int count(MemorySegment page) {
    return Page.getShort(page, COUNT);
  }

  /** Offset of the lowest byte of a value; the page's size if there is none. */
  static int top(MemorySegment page) {
    return Page.getShort(page, TOP);
  }

  private static int slot(int slot) {
    return FIRST_SLOT + slot * SLOT;
  }

  /**
   * Whether a value has moved away from the page and its slot has not been freed yet. Until then
   * nothing may be put there: the slot waits until all snapshots are above the page's LSN.
   */
  public static boolean hasMoved(MemorySegment page) {
    for (int slot = 0; slot < count(page); slot++) {
      if (isTaken(page, slot) && superseder(page, slot) == MOVED) {
        return true;
      }
    }
    return false;
  }

  /** Whether a slot is one of the page and has a value. */
  public static boolean isTaken(MemorySegment page, int slot) {
    return slot >= 0 && slot < count(page) && offset(page, slot) != 0;
  }

  /** Writer of a slot's value. */
  public static long writer(MemorySegment page, int slot) {
    return Page.getLong(page, slot(slot));
  }

  /**
   * The transaction that replaced or deleted a slot's value; 0 if there is none; or {@link #MOVED}.
   */
  public static long superseder(MemorySegment page, int slot) {
    return Page.getLong(page, supersederOffset(slot));
  }

  /** Offset of a slot's superseder. */
  public static int supersederOffset(int slot) {
    return slot(slot) + SUPERSEDER;
  }

  /** Offset of a slot's value. */
  public static int offset(MemorySegment page, int slot) {
    return Page.getShort(page, slot(slot) + OFFSET);
  }

  /** Bytes of a slot's value. */
  public static int length(MemorySegment page, int slot) {
    return Page.getShort(page, slot(slot) + LENGTH);
  }

  /** The slot for the next value; -1 if there can be no more. */
  public static int nextSlot(MemorySegment page) {
    int count = count(page);
    for (int slot = 0; slot < count; slot++) {
      if (offset(page, slot) == 0) {
        return slot;
      }
    }
    return count < MAX_SLOTS ? count : -1;
  }

  /** Free bytes between slots and values. */
  public static int free(MemorySegment page) {
    return Page.getShort(page, TOP) - slot(count(page));
  }

  /** Whether there is room for a value of this many bytes in a slot from {@link #nextSlot}. */
  public static boolean hasRoom(MemorySegment page, int slot, int bytes) {
    return slot >= 0 && freeAfterPut(page, slot, bytes) >= 0;
  }

  /** What {@link #free} will be when a value is in a slot. */
  public static int freeAfterPut(MemorySegment page, int slot, int bytes) {
    return free(page) - bytes - (slot == count(page) ? SLOT : 0);
  }

  /** The fullness of a page that has this many bytes {@link #free}. */
  public static int fullness(int free) {
    int fullness = 1;
    while (fullness < FULL && free < ROOM[fullness] + SLOT) {
      fullness++;
    }
    return fullness;
  }

  /** The fullness of a page, which is 0 for pages of all other types. */
  public static int fullness(MemorySegment page) {
    return Page.type(page) == Page.SHARED_VALUES ? fullness(free(page)) : 0;
  }

  /** The fullness of a page with one value of this many bytes. */
  public static int fullnessAlone(int bytes) {
    return fullness(MAX_VALUE - bytes);
  }

  /** The highest fullness at which every page has room for this many bytes; 0 if there is none. */
  public static int fullnessFor(int bytes) {
    int fullness = FULL - 1;
    while (fullness > 0 && bytes > ROOM[fullness]) {
      fullness--;
    }
    return fullness;
  }

  /** Builds a page with a single value in an array. */
  public static void build(
      MemorySegment page, int flags, long writer, long superseder, byte[] value) {
    page.fill((byte) 0);
    Page.putByte(page, Page.TYPE, Page.SHARED_VALUES);
    Page.putByte(page, Page.FLAGS, flags);
    Page.putShort(page, COUNT, 1);
    int top = Page.SIZE - value.length;
    Page.putShort(page, TOP, top);
    Page.putLong(page, slot(0), writer);
    Page.putLong(page, supersederOffset(0), superseder);
    Page.putShort(page, slot(0) + OFFSET, top);
    Page.putShort(page, slot(0) + LENGTH, value.length);
    MemorySegment.copy(value, 0, page, ValueLayout.JAVA_BYTE, top, value.length);
  }

  /**
   * The number of used bytes at the beginning of the body of a page that {@link #build} has made.
   */
  public static int headLength() {
    return slot(1) - Page.BODY;
  }

  /** Carries out a PUT: writer, superseder and value are bytes of a record. */
  static void put(MemorySegment page, int slot, byte[] record, int from, int n) {
    int count = count(page);
    int bytes = n - OFFSET;
    int top = Page.getShort(page, TOP) - bytes;
    if (slot == count) {
      Page.putShort(page, COUNT, count + 1);
    }
    Page.putShort(page, TOP, top);
    MemorySegment.copy(record, from, page, ValueLayout.JAVA_BYTE, slot(slot), OFFSET);
    Page.putShort(page, slot(slot) + OFFSET, top);
    Page.putShort(page, slot(slot) + LENGTH, bytes);
    MemorySegment.copy(record, from + OFFSET, page, ValueLayout.JAVA_BYTE, top, bytes);
  }

  /** Whether a PUT of this many bytes of a record can be carried out. */
  static boolean canPut(MemorySegment page, int slot, int n) {
    return Page.type(page) == Page.SHARED_VALUES
        && n > OFFSET
        && slot <= count(page)
        && slot < MAX_SLOTS
        && !isTaken(page, slot)
        && hasRoom(page, slot, n - OFFSET);
  }

  /** Whether a TAKE can be carried out. */
  static boolean canTake(MemorySegment page, int slot) {
    return Page.type(page) == Page.SHARED_VALUES && isTaken(page, slot);
  }

  /** Carries out a TAKE. */
  static void take(MemorySegment page, int slot) {
    int offset = offset(page, slot);
    int bytes = length(page, slot);
    int top = Page.getShort(page, TOP);
    MemorySegment.copy(page, top, page, top + bytes, offset - top);
    int count = count(page);
    for (int other = 0; other < count; other++) {
      int at = offset(page, other);
      if (at != 0 && at < offset) {
        Page.putShort(page, slot(other) + OFFSET, at + bytes);
      }
    }
    Page.putShort(page, TOP, top + bytes);
    Page.putLong(page, slot(slot), 0);
    Page.putLong(page, supersederOffset(slot), 0);
    Page.putInt(page, slot(slot) + OFFSET, 0);
  }
}
