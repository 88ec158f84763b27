package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;

/**
 * Pages of a value that is too large for its leaf.
 *
 * <pre>
 *   all    24 u32 number  28 u32 origin  32 u64 writer
 *   head   40 u64 superseder  48 u64 length  56 u32 next index  60 u16 ids  62 u16 bytes here  64 data
 *   index                                    56 u32 next index  60 u16 ids
 *   data                                                        60 u16 bytes here             64 data
 *   ids of data pages: u32 at 8192 - 4 (i + 1)
 * </pre>
 *
 * <p>The head leads to everything that belongs to the value (R15), so the value can be freed with
 * only the head. Every page identifies its owner by the writer and by the <em>origin</em>: the id
 * of the page where the head was made. A head keeps its origin when it moves. No two values have
 * the same writer and origin. The <em>number</em> is the place of a page in its value. So no page
 * counts twice, and a chain of index pages ascends and ends.
 */
public final class OverflowPage {
  /**
   * Offset of the number: of a data page in its value; of the first one that an index page names.
   */
  public static final int NUMBER = 24;

  /** Offset of the page id that the value's head had when it was made. */
  public static final int ORIGIN = 28;

  /** Offset of the writer. */
  public static final int WRITER = 32;

  /** Offset of the superseder (head). */
  public static final int SUPERSEDER = 40;

  /** Offset of the value's length so far (head). */
  public static final int LENGTH = 48;

  /** Offset of the next index page (head, index). */
  public static final int NEXT_INDEX = 56;

  /** Offset of the number of ids (head, index) or of bytes (data). */
  public static final int COUNT = 60;

  /** Offset of the number of data bytes in the head. */
  public static final int INLINE = 62;

  /** Offset of the data. */
  public static final int DATA = 64;

  /** Data bytes in a data page, or in a head without ids. */
  public static final int CAPACITY = Page.SIZE - DATA;

  /** Ids that an index page, or a head without data, holds. */
  public static final int MAX_IDS = CAPACITY / 4;

  private OverflowPage() {}

  /** Offset of the i-th id. */
  public static int idOffset(int i) {
    return Page.SIZE - 4 * (i + 1);
  }

  /** The i-th id. */
  public static int id(MemorySegment page, int i) {
    return Page.getInt(page, idOffset(i));
  }

  /** Number of ids (head, index) or bytes (data). */
  public static int count(MemorySegment page) {
    return Page.getShort(page, COUNT);
  }

  /** Bytes of data in the head. */
  public static int inline(MemorySegment page) {
    return Page.getShort(page, INLINE);
  }

  /** Id of the next index page, 0 for none. */
  public static int nextIndex(MemorySegment page) {
    return Page.getInt(page, NEXT_INDEX);
  }

  /** Place of a data page in its value; of an index page, that of the first page it names. */
  public static int number(MemorySegment page) {
    return Page.getInt(page, NUMBER);
  }

  /** The page id that the value's head had when it was made. */
  public static int origin(MemorySegment page) {
    return Page.getInt(page, ORIGIN);
  }

  /** Writer of the value. */
  public static long writer(MemorySegment page) {
    return Page.getLong(page, WRITER);
  }

  /** The transaction that replaced or deleted the value; 0 if there is none. */
  public static long superseder(MemorySegment page) {
    return Page.getLong(page, SUPERSEDER);
  }

  /** Length of the value. */
  public static long length(MemorySegment page) {
    return Page.getLong(page, LENGTH);
  }
}
