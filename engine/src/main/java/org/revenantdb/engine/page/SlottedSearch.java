package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * Finds keys in pages of {@link Slotted}'s layout, and compares keys with slots, fences and the
 * prefix.
 *
 * <p>A search is binary, over the heads of the slots. If heads are equal, the cells are compared.
 * Heads show where a key belongs only if the key begins with the bytes that all keys of the page
 * share. That is checked once, at the end, and only if the result depends on it.
 *
 * <p>All methods are pure. They may be called on a page that is being changed (an optimistic read):
 * they end, and throw an {@link IndexOutOfBoundsException} or return a meaningless result.
 */
public final class SlottedSearch {
  private SlottedSearch() {}

  /** The slot of a key, or {@code -(slot where it belongs) - 1}. */
  public static int search(MemorySegment page, byte[] key) {
    return Slotted.level(page) == 0 ? searchLeaf(page, 0, key) : searchInner(page, 0, key);
  }

  /** The first slot whose key is not below a key; the number of slots if there is none. */
  public static int slotAtOrAfter(MemorySegment page, byte[] key) {
    int slot = search(page, key);
    return slot >= 0 ? slot : -slot - 1;
  }

  /**
   * As {@link #search}, in a leaf.
   *
   * @param memory the memory of the page
   * @param base the offset of the page in the memory
   */
  public static int searchLeaf(MemorySegment memory, long base, byte[] key) {
    return search(memory, base, key, /* leaf= */ true);
  }

  /** As {@link #searchLeaf}, in an inner page. */
  private static int searchInner(MemorySegment memory, long base, byte[] key) {
    return search(memory, base, key, /* leaf= */ false);
  }

  private static int search(MemorySegment memory, long base, byte[] key, boolean leaf) {
    int count = Page.getShort(memory, base + Slotted.COUNT);
    int prefix = Page.getByte(memory, base + Slotted.PREFIX);
    int skip = Page.getShort(memory, base + Slotted.SKIP);
    int wanted = BigEndian.head(key, skip) ^ Integer.MIN_VALUE;
    long slots = base + Slotted.SLOTS;
    int size = leaf ? Slotted.LEAF_SLOT : Slotted.INNER_SLOT;
    int low = 0;
    int high = count - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long slot = slots + (long) size * middle;
      int head = Page.getInt(memory, slot) ^ Integer.MIN_VALUE;
      if (head < wanted) {
        low = middle + 1;
      } else if (head > wanted) {
        high = middle - 1;
      } else {
        long cell = base + Page.getShort(memory, slot + Slotted.SLOT_CELL);
        int order =
            leaf
                ? compareLeafKey(memory, cell, key, prefix)
                : compareInnerKey(memory, cell, key, prefix);
        if (order == 0) {
          return prefix == 0 || compareCommon(memory, base, prefix, key) == 0
              ? middle
              : notFound(memory, base, count, skip, key, low);
        }
        if (order < 0) {
          low = middle + 1;
        } else {
          high = middle - 1;
        }
      }
    }
    return absent(memory, base, count, skip, key, low);
  }

  /** The result for a key whose head would be at a slot, and no slot has that head. */
  private static int absent(
      MemorySegment memory, long base, int count, int skip, byte[] key, int low) {
    return skip == 0 || count == 0 ? -low - 1 : notFound(memory, base, count, skip, key, low);
  }

  private static int compareLeafKey(MemorySegment memory, long cell, byte[] key, int prefix) {
    return Page.compareKey(
        memory,
        cell + LeafCell.KEY,
        LeafCell.keyLength(LeafCell.shape(memory, cell)),
        key,
        prefix,
        key.length);
  }

  private static int compareInnerKey(MemorySegment memory, long cell, byte[] key, int prefix) {
    return Page.compareKey(
        memory,
        InnerCell.keyOffset(cell),
        InnerCell.keyLength(memory, cell),
        key,
        prefix,
        key.length);
  }

  /**
   * The result for a key without a slot. Heads show where it belongs only if it begins like all
   * keys of the page.
   */
  private static int notFound(
      MemorySegment memory, long base, int count, int skip, byte[] key, int low) {
    int order = compareCommon(memory, base, skip, key);
    return order == 0 ? -low - 1 : order > 0 ? -1 : -count - 1;
  }

  /**
   * Compares the common bytes of a page's keys, or the first of them, with the same number of bytes
   * of a key. The page must have keys.
   *
   * @param length skip, or less
   */
  private static int compareCommon(MemorySegment memory, long base, int length, byte[] key) {
    return compareCommon(memory, base, length, key, 0, key.length);
  }

  /** As {@link #compareCommon(MemorySegment, long, int, byte[])}, of a key in a larger array. */
  private static int compareCommon(
      MemorySegment memory, long base, int length, byte[] bytes, int from, int to) {
    int inHeader = Math.min(length, Slotted.MAX_COMMON);
    int order =
        Page.compareKey(
            memory, base + Slotted.COMMON, inHeader, bytes, from, Math.min(from + inHeader, to));
    if (order != 0 || length <= Slotted.MAX_COMMON) {
      return order;
    }
    int prefix = Page.getByte(memory, base + Slotted.PREFIX);
    int at = Slotted.MAX_COMMON;
    int end = Math.min(length, prefix);
    if (at < end) {
      long fence = base + Page.getShort(memory, base + Slotted.LOWER_OFFSET);
      order =
          Page.compareKey(memory, fence + at, end - at, bytes, from + at, Math.min(from + end, to));
      at = end;
    }
    if (order != 0 || at == length) {
      return order;
    }
    long any = base + Page.getShort(memory, base + Slotted.SLOTS + Slotted.SLOT_CELL);
    long suffix = Slotted.level(memory, base) == 0 ? any + LeafCell.KEY : InnerCell.keyOffset(any);
    return Page.compareKey(
        memory, suffix + at - prefix, length - at, bytes, from + at, Math.min(from + length, to));
  }

  /**
   * A slot of a leaf whose head is that of a key; a negative number if there is none. This is the
   * first half of a search, which does not read the cell; {@link #searchLeaf(MemorySegment, long,
   * byte[], int)} is the second.
   */
  public static int searchHeads(MemorySegment memory, long base, byte[] key) {
    int wanted =
        BigEndian.head(key, Page.getShort(memory, base + Slotted.SKIP)) ^ Integer.MIN_VALUE;
    long slots = base + Slotted.SLOTS;
    int low = 0;
    int high = Page.getShort(memory, base + Slotted.COUNT) - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int head = Page.getInt(memory, slots + (long) Slotted.LEAF_SLOT * middle) ^ Integer.MIN_VALUE;
      if (head == wanted) {
        return middle;
      }
      if (head < wanted) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -low - 1;
  }

  /**
   * As {@link #searchLeaf(MemorySegment, long, byte[])}.
   *
   * @param alike the result of {@link #searchHeads}
   */
  public static int searchLeaf(MemorySegment memory, long base, byte[] key, int alike) {
    if (alike < 0) {
      int skip = Page.getShort(memory, base + Slotted.SKIP);
      return absent(memory, base, Slotted.count(memory, base), skip, key, -alike - 1);
    }
    return isKey(memory, base, alike, key) ? alike : searchLeaf(memory, base, key);
  }

  /**
   * Searches ascending keys in a leaf, each from the slot of the one before, in steps that become
   * longer. No cell is read, but for a long common beginning. This is the first half of a search;
   * {@link #searchAlike} is the second.
   *
   * @param keys has the keys
   * @param members the places in ascending order of the keys that are searched; null for all
   * @param from index among these of the first key
   * @param to index behind the last key
   * @param alike receives for each key the first slot that has its head; if there is none, {@code
   *     -(slot where the key belongs) - 1}
   * @return {@code to}, or the index of the first key that is not below the upper fence; the first
   *     key is not compared with the fence
   */
  public static int searchGroup(
      MemorySegment memory,
      long base,
      KeyBuffer keys,
      int @Nullable [] members,
      int from,
      int to,
      int[] alike) {
    int count = Slotted.count(memory, base);
    int skip = Slotted.skip(memory, base);
    boolean isShort = skip <= Long.BYTES - Slotted.HEAD;
    long shared = isShort ? ~(-1L >>> (Byte.SIZE * skip)) : 0;
    long common = Page.getLongBig(memory, base + Slotted.COMMON) & shared;
    int slot = 0;
    boolean isAlike = false; // whether the key before has the head of that slot
    int before = 0;
    for (int i = from; i < to; i++) {
      int key = keys.at(members == null ? i : members[i]);
      long head = keys.head(key);
      int order;
      int wanted;
      if (isShort && keys.end(key) - keys.start(key) >= skip) {
        order = Long.compareUnsigned(common, head & shared);
        wanted = (int) (head << (Byte.SIZE * skip) >>> Integer.SIZE);
      } else {
        order = compareCommon(memory, base, skip, keys.bytes(), keys.start(key), keys.end(key));
        wanted = BigEndian.head(keys.bytes(), keys.start(key) + skip, keys.end(key));
      }
      if (count > 0 && order == 0) {
        int ordered = wanted ^ Integer.MIN_VALUE;
        int first = isAlike && before < ordered ? slot + 1 : slot;
        slot = slotAtOrAfterHead(memory, base, count, ordered, first);
        isAlike = slot < count && orderedHead(memory, base, slot) == ordered;
        before = ordered;
        alike[i - from] = isAlike ? slot : -slot - 1;
      } else {
        isAlike = false;
        slot = order > 0 ? slot : count;
        alike[i - from] = -slot - 1;
      }
      if (slot == count
          && i > from
          && !isBelowEnd(memory, base, keys.bytes(), keys.start(key), keys.end(key))) {
        return i;
      }
    }
    return to;
  }

  private static int slotAtOrAfterHead(
      MemorySegment memory, long base, int count, int wanted, int first) {
    int low = first;
    int high = first;
    for (int step = 1; high < count; step <<= 1) {
      if (orderedHead(memory, base, high) >= wanted) {
        break;
      }
      low = high + 1;
      high += step;
    }
    high = Math.min(high, count);
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (orderedHead(memory, base, middle) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The head of a slot of a leaf, so that heads are in the order of numbers. */
  private static int orderedHead(MemorySegment memory, long base, int slot) {
    return Page.getInt(memory, base + Slotted.SLOTS + (long) Slotted.LEAF_SLOT * slot)
        ^ Integer.MIN_VALUE;
  }

  /**
   * The slot of a key in a leaf, or {@code -(slot where it belongs) - 1}.
   *
   * @param count the number of slots
   * @param prefix the number of bytes that the cells lack
   * @param skip the number of bytes before the heads
   * @param bytes has the key
   * @param from where the key begins
   * @param to where the key ends
   * @param alike a slot that has the head of the key, as {@link #searchGroup} has found it; or one
   *     behind it, if the keys up to there are below the key
   */
  public static int searchAlike(
      MemorySegment memory,
      long base,
      int count,
      int prefix,
      int skip,
      byte[] bytes,
      int from,
      int to,
      int alike) {
    int wanted = BigEndian.head(bytes, from + skip, to);
    int low = alike;
    int high = alike;
    for (int step = 1; high < count; step <<= 1) { // the run of one head may be the whole leaf
      int order = compareSlot(memory, base, high, wanted, prefix, skip, bytes, from, to);
      if (order == 0) {
        return high;
      }
      if (order > 0) {
        break;
      }
      low = high + 1;
      high += step;
    }
    high = Math.min(high, count);
    while (low < high) {
      int middle = (low + high) >>> 1;
      int order = compareSlot(memory, base, middle, wanted, prefix, skip, bytes, from, to);
      if (order == 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return -low - 1;
  }

  /** Compares the key of a slot with one that has the same first bytes, up to the heads. */
  private static int compareSlot(
      MemorySegment memory,
      long base,
      int slot,
      int wanted,
      int prefix,
      int skip,
      byte[] bytes,
      int from,
      int to) {
    // Two more bytes than a slot has: one access instead of two.
    long word = Page.getLong(memory, base + Slotted.SLOTS + (long) Slotted.LEAF_SLOT * slot);
    int order = Integer.compareUnsigned((int) word, wanted);
    if (order != 0) {
      return order;
    }
    long cell = base + ((word >>> Integer.SIZE) & 0xFFFF);
    int length = LeafCell.keyLength(LeafCell.shape(memory, cell)) + prefix;
    int known = skip + Slotted.HEAD;
    // If one of them ends within its head, the other one begins with it.
    return length <= known || to - from <= known
        ? length - (to - from)
        : Page.compareKey(
            memory, cell + LeafCell.KEY + known - prefix, length - known, bytes, from + known, to);
  }

  /**
   * Whether a key is below the upper fence of a page.
   *
   * @param bytes has the key
   * @param from where the key begins
   * @param to where the key ends
   */
  public static boolean isBelowEnd(
      MemorySegment memory, long base, byte[] bytes, int from, int to) {
    int length = Page.getShort(memory, base + Slotted.UPPER_LENGTH);
    return length == Slotted.INFINITE
        || Page.compareKey(
                memory,
                base + Page.getShort(memory, base + Slotted.UPPER_OFFSET),
                length,
                bytes,
                from,
                to)
            > 0;
  }

  /** Whether a slot of a leaf has this key. */
  static boolean isKey(MemorySegment memory, long base, int slot, byte[] key) {
    long cell = Slotted.cellOf(memory, base, slot);
    int prefix = Page.getByte(memory, base + Slotted.PREFIX);
    int length = LeafCell.keyLength(LeafCell.shape(memory, cell));
    return prefix + length == key.length
        && Page.compareKey(memory, cell + LeafCell.KEY, length, key, prefix, key.length) == 0
        && (prefix == 0 || compareCommon(memory, base, prefix, key) == 0);
  }

  /**
   * Reads the cache lines that a search in a leaf is about to need, so that the processor fetches
   * them all at once instead of one after the other.
   *
   * @return a meaningless number, which the caller must store
   */
  public static int touch(MemorySegment memory, long base) {
    return Page.getByte(memory, base + Slotted.COUNT)
        + Page.getByte(memory, base + Slotted.SLOTS)
        + Page.getByte(memory, base + Slotted.SLOTS + 64)
        + Page.getByte(memory, base + Slotted.SLOTS + 128)
        + Page.getByte(memory, base + Slotted.SLOTS + 192);
  }

  /** As {@link #touch}, for the bytes in front of the heap. The page may be any page. */
  public static int touchHeapTop(MemorySegment memory, long base) {
    int top = Page.getShort(memory, base + Slotted.HEAP_TOP) & (Page.SIZE - 1);
    return Page.getByte(memory, base + Math.max(0, top - 8))
        + Page.getByte(memory, base + Math.max(0, top - 72));
  }

  /** As {@link #touch}, for the end of a cell that a search has found. */
  public static int touchCell(MemorySegment memory, long base, long cell) {
    long last = base + Page.SIZE - 1;
    return Page.getByte(memory, Math.min(cell + 64, last))
        + Page.getByte(memory, Math.min(cell + 128, last));
  }

  /** As {@link #touch}, for the beginning of a cell. */
  public static int touchHead(MemorySegment memory, long cell) {
    return Page.getByte(memory, cell);
  }

  /** Position of the child that holds a key, in an inner page in a larger memory. */
  public static int childPosition(MemorySegment memory, long base, byte[] key) {
    int slot = searchInner(memory, base, key);
    return slot >= 0 ? slot : -slot - 2;
  }

  /** Position of the child that holds a key: -1 is the left-most child, else the slot. */
  public static int childPosition(MemorySegment page, byte[] key) {
    int slot = search(page, key);
    return slot >= 0 ? slot : -slot - 2;
  }

  /** Whether a key lies between the fences. */
  public static boolean covers(MemorySegment page, byte[] key) {
    return Page.compareKey(
                page,
                Page.getShort(page, Slotted.LOWER_OFFSET),
                Page.getShort(page, Slotted.LOWER_LENGTH),
                key)
            <= 0
        && (!Slotted.hasUpperFence(page)
            || Page.compareKey(
                    page,
                    Page.getShort(page, Slotted.UPPER_OFFSET),
                    Page.getShort(page, Slotted.UPPER_LENGTH),
                    key)
                > 0);
  }

  /** Whether all keys of the pages to the right are at or above a key. */
  public static boolean endsBehind(MemorySegment page, byte[] key) {
    return !Slotted.hasUpperFence(page)
        || Page.compareKey(
                page,
                Page.getShort(page, Slotted.UPPER_OFFSET),
                Page.getShort(page, Slotted.UPPER_LENGTH),
                key)
            >= 0;
  }

  /** The prefix length for the fences of a page. */
  static int prefixOfFences(MemorySegment page) {
    return prefixOfBoth(page, page);
  }

  /** The prefix length for the lower fence of one page and the upper fence of another. */
  public static int prefixOfBoth(MemorySegment left, MemorySegment right) {
    return Slotted.hasUpperFence(right) ? prefixBetween(left, Slotted.upperFence(right)) : 0;
  }

  /** How many bytes a lower fence and an upper one, in an array, have in common. */
  static int prefixBetween(
      MemorySegment page, int lower, int lowerLength, byte[] upper, int from, int upperLength) {
    int limit = Math.min(Slotted.MAX_PREFIX, Math.min(lowerLength, upperLength));
    int i = 0;
    while (i < limit && Page.getByte(page, lower + i) == (upper[from + i] & 0xFF)) {
      i++;
    }
    return i;
  }

  private static int prefixBetween(MemorySegment page, byte[] upper) {
    return prefixBetween(
        page,
        Page.getShort(page, Slotted.LOWER_OFFSET),
        Page.getShort(page, Slotted.LOWER_LENGTH),
        upper,
        0,
        upper.length);
  }

  /**
   * Whether a page may be cut at a fence: the fence lies behind the lower one, and shares the
   * prefix.
   */
  static boolean canEndAt(MemorySegment page, byte[] source, int offset, int length) {
    int lower = Page.getShort(page, Slotted.LOWER_OFFSET);
    int lowerLength = Page.getShort(page, Slotted.LOWER_LENGTH);
    return Page.compareKey(page, lower, lowerLength, source, offset, offset + length) < 0
        && prefixBetween(page, lower, lowerLength, source, offset, length) >= Slotted.prefix(page);
  }

  /**
   * Whether a cell with its whole key can belong to the page: redo may meet a page that is not the
   * one to which the change was made.
   */
  static boolean beginsWithPrefix(MemorySegment page, byte[] source, int offset) {
    int prefix = Slotted.prefix(page);
    if (prefix == 0) {
      return true;
    }
    boolean leaf = Slotted.level(page) == 0;
    int key = offset + Slotted.keyOffset(leaf, 0);
    int length =
        LittleEndian.getShort(source, offset + (leaf ? LeafCell.KEY_LENGTH : InnerCell.KEY_LENGTH));
    return length >= prefix
        && Page.compareKey(
                page, Page.getShort(page, Slotted.LOWER_OFFSET), prefix, source, key, key + prefix)
            == 0;
  }

  /** What is wrong with prefix, skip or the heads, or null. */
  public static @Nullable String problemOfHeads(MemorySegment page) {
    int count = Slotted.count(page);
    boolean leaf = Slotted.level(page) == 0;
    int prefix = Slotted.prefix(page);
    if (prefix != prefixOfFences(page)) {
      return "its cells lack the first "
          + prefix
          + " bytes of their keys, its fences share "
          + prefixOfFences(page);
    }
    if (count > 0 && Slotted.skip(page) < prefix) {
      return "its heads begin at " + Slotted.skip(page) + ", its keys at " + prefix;
    }
    for (int slot = 0; slot < count; slot++) {
      int inHeader = Math.min(Slotted.skip(page), Slotted.MAX_COMMON);
      MemorySegment key = MemorySegment.ofArray(Slotted.keyOf(page, Slotted.cell(page, slot)));
      if (key.byteSize() < inHeader
          || MemorySegment.mismatch(
                  key, 0, inHeader, page, Slotted.COMMON, Slotted.COMMON + inHeader)
              >= 0) {
        return "slot " + slot + " does not begin as the header says that all keys do";
      }
      if (common(page, leaf, slot, 0) < Slotted.skip(page)) {
        return "slot "
            + slot
            + " does not share the first "
            + Slotted.skip(page)
            + " bytes of the keys";
      }
      if (Slotted.head(page, slot) != headOf(page, leaf, slot)) {
        return "slot " + slot + " has a head that does not match its key";
      }
      if (!leaf && Slotted.child(page, slot) != InnerCell.child(page, Slotted.cell(page, slot))) {
        return "slot " + slot + " has a child that differs from that of its cell";
      }
    }
    return null;
  }

  /** The correct head of a slot. */
  static int headOf(MemorySegment page, boolean leaf, int slot) {
    int cell = Slotted.cell(page, slot);
    int offset = Slotted.keyOffset(leaf, cell);
    int length = Slotted.keyLength(page, leaf, cell);
    int head = 0;
    int skip = Slotted.skip(page) - Slotted.prefix(page);
    for (int i = skip; i < skip + Slotted.HEAD; i++) {
      head = head << Byte.SIZE | (i < length ? Page.getByte(page, offset + i) : 0);
    }
    return head;
  }

  /** Bytes that the keys of two slots have in common at their beginning. */
  static int common(MemorySegment page, boolean leaf, int one, int other) {
    int cell1 = Slotted.cell(page, one);
    int cell2 = Slotted.cell(page, other);
    int from1 = Slotted.keyOffset(leaf, cell1);
    int from2 = Slotted.keyOffset(leaf, cell2);
    int limit =
        Math.min(Slotted.keyLength(page, leaf, cell1), Slotted.keyLength(page, leaf, cell2));
    int i = 0;
    while (i < limit && Page.getByte(page, from1 + i) == Page.getByte(page, from2 + i)) {
      i++;
    }
    return Slotted.prefix(page) + i;
  }
}
