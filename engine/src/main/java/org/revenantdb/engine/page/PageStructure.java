package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a page can be used: its type is possible at its place, and every count, offset,
 * length and link in it is legal. A correct checksum does not prove this: a bug or an attacker can
 * make one.
 *
 * <p>A page that passes is safe. Each reading method of {@link Slotted}, {@link SlottedSearch},
 * {@link LeafCell}, {@link InnerCell}, {@link OverflowPage}, {@link SharedValues} and {@link
 * ExtentMapPage} stays inside the page for each slot that the page has. If the page passes {@link
 * #problemBeforeChange}, too, each operation of {@link PageOps} that was made for it can be carried
 * out. The contents may still be wrong: the order of keys is checked only by their heads, and the
 * target of a link is checked by the reader that follows it.
 *
 * <p>The pool checks a page once after it has read it ({@link #problemOf}), and once before the
 * first change after that ({@link #problemBeforeChange}). All methods are static and pure; they
 * read nothing but the page.
 */
public final class PageStructure {
  /*
   * Slotted pages: what makes them safe
   *
   *   S1 The slots end at or below heap top. Every cell, fence and record of a predecessor lies between heap top and
   *      the end of the page.
   *   S2 No two of them overlap. So a change of one cell in its place does not change another cell's header. Readers
   *      do not need this; it is checked before the first change, and not when the page is read. So is the stack of
   *      records at heap top: each of them is that of a row, or free and no part of anything in use.
   *   S3 The lengths of cells, fences and records and the garbage add up to the heap. So a compaction has room for all
   *      of them, and the free bytes that a writer counts before it publishes a record are there when the record is applied (R18).
   *   S4 The prefix is shared by both fences. Every key has at least skip bytes, and skip is not below the prefix.
   *   S5 Heads ascend: nothing is written among keys that are out of order. Like S2, this is checked before the first
   *      change. A search ends in any case.
   *   S6 A leaf's reference to a large value, and an inner page's child, is a page that can be one: none of the fixed
   *      pages, no map, and a child is not the page itself. (A reference may be: see isReference.)
   *
   * Cost       of a read: one pass over the slots, two accesses each. Of the first change: a second pass, which marks the
   *            bytes in use in a bitmap of 1 KiB. jmh and docs/format.md §1.8 have the figures.
   */

  /** Bits of a page, one for each byte. */
  private static final int WORDS = Page.SIZE / Long.SIZE;

  /** The root of the catalogue; the pages before it are headers and the first maps. */
  private static final int CATALOGUE = 5;

  private static final int RANGE_PAGES = ExtentMapPage.RANGE * ExtentMapPage.PAGES;
  private static final int MAX_LEVEL = 31;

  /** The bits of a page in a space map, except the marks of the cleaner. */
  private static final int FIXED =
      SpaceMapPage.MIXED | SpaceMapPage.ALLOCATED | SpaceMapPage.IAM | SpaceMapPage.FULLNESS;

  private static final int KNOWN_FLAGS = Page.FLAG_VERSIONS | Page.FLAG_GHOST;

  /** The number of ranges of a file with as many pages as there are page ids. */
  private static final int MAX_RANGE = ExtentMapPage.range(Integer.MAX_VALUE / ExtentMapPage.PAGES);

  /** The end of the header of a map without fields, rounded up to words of four bytes. */
  private static final int MAP_FIELDS = 20;

  private static final String RESERVED = "reserved bytes of its header are not zero";

  private static final int INNER_HEADER = 6;

  /** Where the first slot has the offset of its cell. */
  private static final int FIRST_CELL = Slotted.SLOTS + Slotted.SLOT_CELL;

  /** More slots than a leaf can have. */
  private static final int MAX_SLOTS = Page.SIZE / Slotted.LEAF_SLOT;

  private static final int CURRENT_FLAGS = LeafCell.DELETED | LeafCell.OVERFLOW;
  private static final int UNKNOWN_CELL_FLAG = 128;

  private PageStructure() {}

  /**
   * What is wrong with a page.
   *
   * @param pageId where the page was read from
   * @param page its 8192 bytes
   * @return a clause without a full stop, or null
   */
  public static @Nullable String problemOf(int pageId, MemorySegment page) {
    int type = Page.type(page);
    @Nullable String problem =
        switch (type) {
          case Page.LEAF, Page.INNER -> problemOfTree(pageId, page, type == Page.LEAF);
          case Page.OVERFLOW_HEAD, Page.OVERFLOW_INDEX -> problemOfIds(pageId, page, type);
          case Page.OVERFLOW_DATA -> problemOfData(page);
          case Page.SHARED_VALUES -> problemOfShared(page);
          case Page.IAM -> problemOfList(pageId, page);
          case Page.SPACE_MAP -> problemOfSpaceMap(pageId, page);
          case Page.GAM -> problemOfGam(page);
          default -> "it is of the unknown type " + type;
        };
    if (problem == null) {
      problem = problemOfPlace(pageId, page, type);
    }
    return problem == null ? null : "page " + pageId + " has a good checksum, but " + problem;
  }

  /**
   * What is wrong with a page that has passed {@link #problemOf} and is about to be changed for the
   * first time since then: bytes that belong to two cells, or heads out of order. Even with such a
   * problem a reader stays inside the page.
   *
   * @param pageId where the page was read from
   * @param page its 8192 bytes
   * @return a clause without a full stop, or null
   */
  public static @Nullable String problemBeforeChange(int pageId, MemorySegment page) {
    int type = Page.type(page);
    boolean leaf = type == Page.LEAF;
    if (!leaf && type != Page.INNER) {
      return null;
    }
    String problem =
        hasOverlap(page)
            ? "cells, fences or former versions of it overlap"
            : headsAscend(page, leaf) ? null : "its keys are not in order";
    return problem == null ? null : "page " + pageId + " has a good checksum, but " + problem;
  }

  private static boolean headsAscend(MemorySegment page, boolean leaf) {
    int slotSize = leaf ? Slotted.LEAF_SLOT : Slotted.INNER_SLOT;
    int end = Slotted.SLOTS + slotSize * Slotted.count(page);
    int before = Integer.MIN_VALUE;
    for (int at = Slotted.SLOTS; at < end; at += slotSize) {
      int head = Page.getInt(page, at) ^ Integer.MIN_VALUE;
      if (head < before) {
        return false;
      }
      before = head;
    }
    return true;
  }

  /** Whether a page of the data file can be linked to: it is no header, no map, no fixed root. */
  public static boolean isLink(int pageId) {
    return pageId > CATALOGUE
        && pageId % SpaceMapPage.GROUP != SpaceMapPage.POSITION
        && pageId % RANGE_PAGES != ExtentMapPage.POSITION;
  }

  private static @Nullable String problemOfPlace(int pageId, MemorySegment page, int type) {
    int expected = type;
    if (pageId % SpaceMapPage.GROUP == SpaceMapPage.POSITION) {
      expected = Page.SPACE_MAP;
    } else if (pageId % RANGE_PAGES == ExtentMapPage.POSITION) {
      expected = Page.GAM;
    } else if (type == Page.SPACE_MAP || type == Page.GAM) {
      return "its type is " + type + ", that of a map, and no map is at this place";
    }
    if (type != expected) {
      return "its type is " + type + ", and this place is for a map of type " + expected;
    }
    if (pageId == CATALOGUE
        && ((type != Page.LEAF && type != Page.INNER) || Slotted.table(page) != 0)) {
      return "it is not the root of the catalogue";
    }
    return null;
  }

  /**
   * What is wrong with a space map. No map may ever be allocated, and no page of the first extent
   * of a group as one of a free extent.
   */
  private static @Nullable String problemOfSpaceMap(int pageId, MemorySegment page) {
    if (!isHeaderZero(page, MAP_FIELDS, MAP_FIELDS)) {
      return RESERVED;
    }
    int first = pageId - pageId % SpaceMapPage.GROUP;
    for (int i = first; i < first + ExtentMapPage.PAGES; i++) {
      int bits = Page.getByteShared(page, SpaceMapPage.offset(i));
      if ((bits & SpaceMapPage.MIXED) == 0) {
        return "it does not mark page "
            + i
            + " as part of a mixed extent, which the first extent of a group always is";
      }
      boolean isFixed = !isLink(i);
      if (isFixed && (bits & FIXED) != (SpaceMapPage.MIXED | SpaceMapPage.ALLOCATED)) {
        return "it marks page " + i + ", which always exists, as free or as of another kind";
      }
    }
    for (int at = SpaceMapPage.HEADER; at < Page.SIZE; at += Long.BYTES) {
      if (SpaceMapPage.hasIllegalByte(Page.getLong(page, at))) {
        return "the byte of one of pages "
            + (first + at - SpaceMapPage.HEADER)
            + " to "
            + (first + at - SpaceMapPage.HEADER + Long.BYTES - 1)
            + " has a combination of bits that the engine never writes";
      }
    }
    return null;
  }

  private static @Nullable String problemOfGam(MemorySegment page) {
    if (!isHeaderZero(page, MAP_FIELDS, MAP_FIELDS)) {
      return RESERVED;
    }
    return ExtentMapPage.isSet(page, 0) ? null : "it marks its own extent as free";
  }

  /** Whether all bytes of a map's header behind the type, except those of its fields, are zero. */
  private static boolean isHeaderZero(MemorySegment page, int from, int to) {
    int sum = 0;
    for (int at = Page.FLAGS; at < from; at++) {
      sum |= Page.getByte(page, at);
    }
    for (int at = to; at < SpaceMapPage.HEADER; at += Integer.BYTES) {
      sum |= Page.getInt(page, at);
    }
    return sum == 0;
  }

  private static @Nullable String problemOfLink(int pageId, int link, String what) {
    return link == pageId || !isLink(link)
        ? what + " is page " + Integer.toUnsignedString(link) + ", which cannot be one"
        : null;
  }

  // ---- leaf and inner pages

  private static @Nullable String problemOfTree(int pageId, MemorySegment page, boolean leaf) {
    int level = Slotted.level(page);
    if (leaf ? level != 0 : level < 1 || level > MAX_LEVEL) {
      return "its level is " + level + ", which a page of type " + Page.type(page) + " cannot have";
    }
    if ((Page.flags(page) & ~KNOWN_FLAGS) != 0) {
      return "it has unknown flags " + Page.flags(page);
    }
    int count = Slotted.count(page);
    int top = Slotted.heapTop(page);
    int slotSize = leaf ? Slotted.LEAF_SLOT : Slotted.INNER_SLOT;
    int end = Slotted.SLOTS + slotSize * count;
    if (end > top || top > Page.SIZE) {
      return "its %d slots end at %d and its heap begins at %d".formatted(count, end, top);
    }
    int lowerAt = Page.getShort(page, Slotted.LOWER_OFFSET);
    int lower = Page.getShort(page, Slotted.LOWER_LENGTH);
    int upperAt = Page.getShort(page, Slotted.UPPER_OFFSET);
    int upper = Page.getShort(page, Slotted.UPPER_LENGTH);
    String problem = problemOfFences(page, top, lowerAt, lower, upperAt, upper);
    if (problem == null) {
      problem = problemOfRootFields(pageId, page, leaf, level);
    }
    if (problem != null) {
      return problem;
    }
    int prefix = Slotted.prefix(page);
    int shared = count == 0 ? 0 : Slotted.skip(page) - prefix;
    if (shared < 0 || prefix + shared > LeafCell.MAX_KEY) {
      return "its heads begin at byte %d of its keys, and its cells at byte %d"
          .formatted(Slotted.skip(page), prefix);
    }
    int fences = lower + (upper == Slotted.INFINITE ? 0 : upper);
    int cells =
        leaf
            ? leafCells(page, count, top, prefix, shared)
            : innerCells(pageId, page, count, top, prefix, shared);
    if (cells < 0) {
      return problemOfSlot(page, leaf, -1 - cells, top, prefix, shared);
    }
    if (!leaf && Slotted.isRecordOnTop(page)) {
      return "its heap begins with a former version, but it is no leaf";
    }
    int garbage = Slotted.garbage(page);
    return cells + fences + garbage == Page.SIZE - top
        ? null
        : "its cells of %d bytes, fences of %d and garbage of %d do not make up its heap of %d"
            .formatted(cells, fences, garbage, Page.SIZE - top);
  }

  private static @Nullable String problemOfFences(
      MemorySegment page, int top, int lowerAt, int lower, int upperAt, int upper) {
    if (lower > LeafCell.MAX_KEY || (lower == 0 ? lowerAt != 0 : !isInHeap(top, lowerAt, lower))) {
      return "its lower fence has %d bytes at %d".formatted(lower, lowerAt);
    }
    int prefix = Slotted.prefix(page);
    if (upper == Slotted.INFINITE) {
      return prefix == 0 ? null : "its keys lack " + prefix + " bytes, and it has no upper fence";
    }
    if (upper == 0 || upper > LeafCell.MAX_KEY || !isInHeap(top, upperAt, upper)) {
      return "its upper fence has %d bytes at %d".formatted(upper, upperAt);
    }
    if (lower > 0 && lowerAt < upperAt + upper && upperAt < lowerAt + lower) {
      return "its fences overlap";
    }
    int limit = Math.min(lower, upper);
    int common = 0;
    while (common < limit
        && Page.getByte(page, (long) lowerAt + common)
            == Page.getByte(page, (long) upperAt + common)) {
      common++;
    }
    if (prefix > common) {
      return "its keys lack %d bytes, and its fences share %d".formatted(prefix, common);
    }
    boolean ascend =
        common == limit
            ? lower < upper
            : Page.getByte(page, (long) lowerAt + common)
                < Page.getByte(page, (long) upperAt + common);
    return ascend ? null : "its lower fence is not below its upper fence";
  }

  private static boolean isInHeap(int top, int at, int length) {
    return at >= top && at + length <= Page.SIZE;
  }

  /** The first IAM page of a root, and the left-most child. */
  private static @Nullable String problemOfRootFields(
      int pageId, MemorySegment page, boolean leaf, int level) {
    int list = Page.getInt(page, Slotted.iamOffset(level));
    if (list != 0 && problemOfLink(pageId, list, "") != null) {
      return problemOfLink(pageId, list, "its first list of extents");
    }
    int child = leaf ? CATALOGUE : Page.getInt(page, Slotted.LEFTMOST_CHILD);
    return leaf || (child != pageId && isLink(child))
        ? null
        : problemOfLink(pageId, child, "its left-most child");
  }

  /**
   * The number of bytes of the cells; -1 - slot if a cell is impossible. It takes two accesses to
   * the page and six branches for a settled row: this is the cost of checking a leaf.
   *
   * <p>The flags of a cell are in the upper half of the word with the length of its key, the offset
   * of its record is in that with the length of its value. In a settled row both are zero. So the
   * limits of the lengths also find the rows that are not settled, for {@link #rowBytes}.
   */
  private static int leafCells(MemorySegment page, int count, int top, int prefix, int shared) {
    int shortest = shortestKey(prefix, shared);
    int more = LeafCell.MAX_KEY - prefix - shortest;
    int longest = LeafCell.MAX_CELL - LeafCell.KEY - prefix;
    int last = Page.SIZE - LeafCell.KEY;
    // The limit lets the compiler know that offsets of slots cannot overflow: it unrolls the loop.
    int end = FIRST_CELL + Slotted.LEAF_SLOT * Math.min(count, MAX_SLOTS);
    long bytes = 0;
    for (int at = FIRST_CELL; at < end; at += Slotted.LEAF_SLOT) {
      int cell = Page.getShort(page, at);
      if (cell < top || cell > last) {
        return -1 - (at - FIRST_CELL) / Slotted.LEAF_SLOT;
      }
      long shape = LeafCell.shape(page, cell);
      int key = (int) shape;
      long both = Integer.toUnsignedLong(key) + (shape >>> Integer.SIZE);
      if (!isUpTo(more, key - shortest) || both > longest || cell + both > last) {
        both = rowBytes(page, cell, top, shortest, prefix);
        if (both < 0) {
          return -1 - (at - FIRST_CELL) / Slotted.LEAF_SLOT;
        }
      }
      bytes += both;
    }
    return (int) bytes + LeafCell.KEY * count;
  }

  /**
   * Bytes of any row without its header, or a negative number if the row is impossible.
   *
   * @param cell an offset in the heap, with room for the header of a cell
   */
  private static int rowBytes(MemorySegment page, int cell, int top, int shortest, int prefix) {
    long shape = LeafCell.shape(page, cell);
    int key = LeafCell.keyLength(shape);
    boolean broken =
        key < shortest
            || key > LeafCell.MAX_KEY - prefix
            || cell + LeafCell.cellLength(shape) > Page.SIZE
            || problemOfRow(page, cell, shape, top) != null;
    int length = broken ? -1 : LeafCell.length(page, cell);
    return length > LeafCell.MAX_CELL - prefix ? -1 : length - LeafCell.KEY;
  }

  private static int shortestKey(int prefix, int shared) {
    return Math.max(shared, prefix == 0 ? 1 : 0);
  }

  /** Whether a number is from 0 to a limit, by one comparison. */
  private static boolean isUpTo(int limit, int number) {
    return number + Integer.MIN_VALUE <= limit + Integer.MIN_VALUE;
  }

  /** What is wrong with the versions of a row that is more than a value, or null. */
  private static @Nullable String problemOfRow(MemorySegment page, int cell, long shape, int top) {
    int flags = LeafCell.flags(shape);
    if ((flags & UNKNOWN_CELL_FLAG) != 0 || (int) (shape >> (3 * Byte.SIZE) & 0xFF) != 0) {
      return "has unknown flags";
    }
    if (cell + LeafCell.cellLength(shape) > Page.SIZE) {
      return "has a cell of " + LeafCell.cellLength(shape) + " bytes at " + cell;
    }
    if ((flags & LeafCell.OVERFLOW) != 0
        && ((flags & LeafCell.DELETED) != 0
            || LeafCell.valueLength(shape) != LeafCell.REFERENCE
            || !isReference(page, LeafCell.valueOffset(page, cell)))) {
      return "has an impossible reference to a large value";
    }
    int record = LeafCell.record(shape);
    if ((flags & LeafCell.PREDECESSOR) == 0) {
      return (flags & ~CURRENT_FLAGS) == 0 && record == 0
          ? null
          : "has flags "
              + flags
              + " and a former version at "
              + record
              + ", which do not fit together";
    }
    if (!isRecord(page, record, Predecessors.header(flags), top)) {
      return "has a former version at " + record + ", which cannot be one";
    }
    if ((flags & LeafCell.PREDECESSOR_OVERFLOW) != 0
        && ((flags & (LeafCell.PREDECESSOR_DELETED | LeafCell.PREDECESSOR_FOR_ALL)) != 0
            || LeafCell.predecessorLength(page, cell) != LeafCell.REFERENCE
            || !isReference(page, LeafCell.predecessorOffset(page, cell)))) {
      return "has a former version with an impossible reference to a large value";
    }
    return LeafCell.problemOf(page, cell);
  }

  /** Whether there is a record of a predecessor at an offset that is not free. */
  private static boolean isRecord(MemorySegment page, int at, int header, int top) {
    if (at < top || at + Predecessors.HEADER > Page.SIZE) {
      return false;
    }
    int size = Predecessors.size(page, at);
    return size >= header && at + size <= Page.SIZE && !Predecessors.isFree(page, at);
  }

  /**
   * Not whether it leads to another page: a former version that no snapshot needs, and a version
   * that was aborted, keep their reference when the value's page is freed. That page may have
   * become this one, by a split that moved the row here (protocols.md §26, "Slots").
   */
  private static boolean isReference(MemorySegment page, int offset) {
    return ValueReference.of(page, offset).isLegal();
  }

  /** As {@link #leafCells}. */
  private static int innerCells(
      int pageId, MemorySegment page, int count, int top, int prefix, int shared) {
    int shortest = shortestKey(prefix, shared);
    int keys = LeafCell.MAX_KEY - prefix - shortest;
    int bytes = 0;
    int left = Page.getInt(page, Slotted.LEFTMOST_CHILD);
    for (int slot = 0; slot < count; slot++) {
      int at = Slotted.SLOTS + Slotted.INNER_SLOT * slot;
      int cell = Page.getShort(page, at + Slotted.SLOT_CELL);
      int child = Page.getInt(page, at + Slotted.SLOT_CHILD);
      if (cell < top || cell > Page.SIZE - INNER_HEADER) {
        return -1 - slot;
      }
      int key = InnerCell.keyLength(page, cell);
      int length = InnerCell.length(page, cell);
      if (!isUpTo(keys, key - shortest)
          || cell + length > Page.SIZE
          || child != InnerCell.child(page, cell)
          || child == left
          || child == pageId
          || !isLink(child)) {
        return -1 - slot;
      }
      left = child;
      bytes += length;
    }
    return bytes;
  }

  /** Describes the problem that {@link #leafCells} or {@link #innerCells} has found. */
  private static String problemOfSlot(
      MemorySegment page, boolean leaf, int slot, int top, int prefix, int shared) {
    String what = "slot " + slot + " ";
    int cell = Slotted.cell(page, slot);
    int header = leaf ? LeafCell.KEY : INNER_HEADER;
    if (cell < top || cell > Page.SIZE - header) {
      return what + "leads to a cell at " + cell + ", and the heap begins at " + top;
    }
    @Nullable String row = leaf ? problemOfRow(page, cell, LeafCell.shape(page, cell), top) : null;
    if (row != null) {
      return what + row;
    }
    int inCell = leaf ? LeafCell.cellLength(page, cell) : InnerCell.length(page, cell);
    int length = Slotted.length(page, slot);
    int key = leaf ? LeafCell.keyLength(page, cell) : InnerCell.keyLength(page, cell);
    if (cell + inCell > Page.SIZE || length + prefix > LeafCell.MAX_CELL) {
      return what + "has a cell of " + length + " bytes at " + cell;
    }
    if (key < shared || key + prefix == 0 || key + prefix > LeafCell.MAX_KEY) {
      return what + "has a key of " + (key + prefix) + " bytes";
    }
    int child = Slotted.child(page, slot);
    return what
        + (child == InnerCell.child(page, cell)
            ? "has the child "
            : "has two children, one of them ")
        + Integer.toUnsignedString(child)
        + ", an impossible page id";
  }

  /** Whether cells, fences or former versions of a leaf or inner page overlap (S2). */
  private static boolean hasOverlap(MemorySegment page) {
    boolean leaf = Page.type(page) == Page.LEAF;
    long[] used = new long[WORDS];
    long[] records = new long[leaf ? WORDS : 0];
    int lower = Page.getShort(page, Slotted.LOWER_LENGTH);
    int lowerAt = Page.getShort(page, Slotted.LOWER_OFFSET);
    boolean overlap = lower > 0 && !mark(used, lowerAt, lowerAt + lower);
    if (Slotted.hasUpperFence(page)) {
      int upperAt = Page.getShort(page, Slotted.UPPER_OFFSET);
      overlap |= !mark(used, upperAt, upperAt + Page.getShort(page, Slotted.UPPER_LENGTH));
    }
    int slotSize = leaf ? Slotted.LEAF_SLOT : Slotted.INNER_SLOT;
    int end = Slotted.SLOTS + slotSize * Slotted.count(page);
    for (int at = Slotted.SLOTS + Slotted.SLOT_CELL; at < end; at += slotSize) {
      int cell = Page.getShort(page, at);
      if (leaf) {
        long shape = LeafCell.shape(page, cell);
        overlap |= !mark(used, cell, cell + LeafCell.cellLength(shape));
        int record = LeafCell.record(shape);
        if (record != 0) {
          overlap |= !mark(used, record, record + Predecessors.size(page, record));
          records[record >>> 6] |= 1L << record;
        }
      } else {
        overlap |= !mark(used, cell, cell + InnerCell.length(page, cell));
      }
    }
    return overlap || (Slotted.isRecordOnTop(page) && isBroken(page, used, records));
  }

  /**
   * Whether the stack of records at heap top is broken.
   *
   * @param used the bytes in use; the free records are added
   * @param records where the records in use begin
   */
  private static boolean isBroken(MemorySegment page, long[] used, long[] records) {
    int at = Slotted.heapTop(page);
    boolean more = true;
    while (more) {
      if (at + Predecessors.HEADER > Page.SIZE) {
        return true;
      }
      int end = at + Predecessors.size(page, at);
      boolean fits =
          Predecessors.isFree(page, at)
              ? end >= at + Predecessors.HEADER && end <= Page.SIZE && mark(used, at, end)
              : (records[at >>> 6] & 1L << at) != 0;
      if (!fits) {
        return true;
      }
      more = Predecessors.isChained(page, at);
      at = end;
    }
    return false;
  }

  /** Marks bytes as used; false if one was marked already. There is at least one byte. */
  private static boolean mark(long[] used, int from, int to) {
    int first = from >>> 6;
    int last = (to - 1) >>> 6;
    long head = -1L << from;
    long tail = -1L >>> -to;
    if (first == last) {
      long bits = head & tail;
      boolean free = (used[first] & bits) == 0;
      used[first] |= bits;
      return free;
    }
    long seen = (used[first] & head) | (used[last] & tail);
    used[first] |= head;
    used[last] |= tail;
    for (int word = first + 1; word < last; word++) {
      seen |= used[word];
      used[word] = -1;
    }
    return seen == 0;
  }

  // ---- large values

  private static @Nullable String problemOfIds(int pageId, MemorySegment page, int type) {
    boolean head = type == Page.OVERFLOW_HEAD;
    int count = OverflowPage.count(page);
    int inline = head ? OverflowPage.inline(page) : 0;
    if (count > OverflowPage.MAX_IDS || inline + 4 * count > OverflowPage.CAPACITY) {
      return "it lists %d pages and has %d bytes of data, more than it has room for"
          .formatted(count, inline);
    }
    if (head && (Page.flags(page) & ~KNOWN_FLAGS) != 0) {
      return "it has unknown flags " + Page.flags(page);
    }
    if (head
        && (OverflowPage.length(page) < inline
            || OverflowPage.length(page) > ValueReference.MAX_LENGTH)) {
      return "its value has the impossible length "
          + Long.toUnsignedString(OverflowPage.length(page));
    }
    int next = OverflowPage.nextIndex(page);
    if (next != 0 && (next == pageId || !isLink(next))) {
      return problemOfLink(pageId, next, "its next index page");
    }
    for (int i = 0; i < count; i++) {
      int id = OverflowPage.id(page, i);
      if (id == pageId || id == next || !isLink(id)) {
        return "its data page %d is page %s, an impossible page id"
            .formatted(i, Integer.toUnsignedString(id));
      }
    }
    return null;
  }

  private static @Nullable String problemOfData(MemorySegment page) {
    int count = OverflowPage.count(page);
    return count > 0 && count <= OverflowPage.CAPACITY
        ? null
        : "it has " + count + " bytes of a value, an impossible number";
  }

  private static @Nullable String problemOfShared(MemorySegment page) {
    int count = SharedValues.count(page);
    int free = count > SharedValues.MAX_SLOTS ? -1 : SharedValues.free(page);
    int top = SharedValues.top(page);
    if (free < 0 || top > Page.SIZE || (Page.flags(page) & ~KNOWN_FLAGS) != 0) {
      return "its header is impossible: %d slots, values from byte %d on, flags %d"
          .formatted(count, top, Page.flags(page));
    }
    long[] used = new long[WORDS];
    int bytes = 0;
    for (int slot = 0; slot < count; slot++) {
      int offset = SharedValues.offset(page, slot);
      int length = SharedValues.length(page, slot);
      if (offset == 0 && length == 0) {
        continue;
      }
      if (offset < top
          || length == 0
          || offset + length > Page.SIZE
          || !mark(used, offset, offset + length)) {
        return "the value of slot %d, of %d bytes at %d, is empty, outside the heap, or overlaps another"
            .formatted(slot, length, offset);
      }
      bytes += length;
    }
    return bytes == Page.SIZE - top
        ? null
        : "its values have %d bytes together, but its heap begins at %d".formatted(bytes, top);
  }

  // ---- extents

  private static @Nullable String problemOfList(int pageId, MemorySegment page) {
    int range = ExtentMapPage.rangeNumber(page);
    if (range < 0 || range > MAX_RANGE) {
      return "it lists the extents of an impossible range, " + Integer.toUnsignedString(range);
    }
    if (!isHeaderZero(page, ExtentMapPage.TABLE, ExtentMapPage.NEXT + Integer.BYTES)) {
      return RESERVED;
    }
    if (ExtentMapPage.table(page) < 0) {
      return "it lists the extents of an impossible table, "
          + Integer.toUnsignedString(ExtentMapPage.table(page));
    }
    for (int extent = 0; extent < ExtentMapPage.RANGE; extent += ExtentMapPage.GROUP) {
      if (ExtentMapPage.isSet(page, extent)) {
        return "it lists extent %d of its range, which has a space map and belongs to no tree"
            .formatted(extent);
      }
    }
    int next = ExtentMapPage.nextPage(page);
    return next == 0 ? null : problemOfLink(pageId, next, "the next list");
  }
}
