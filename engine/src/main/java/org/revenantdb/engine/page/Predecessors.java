package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;

/**
 * The records of predecessors in the heap of a leaf.
 *
 * <pre>
 *   0 u16 bytes of the record in bits 0 to 11, and two bits:
 *         0x4000 free: no row has it any more   0x8000 the bytes behind it are such a record, too
 *   2 u64 writer of the predecessor, only without PREDECESSOR_FOR_ALL
 *   then its value, or with PREDECESSOR_DIFF the difference from the current value: u16 begin in bits 0 to 14,
 *   bit 15: u16 end follows, bytes: they lie between the first begin and the last end bytes of the current value;
 *   without bit 15 the two values have the same length
 * </pre>
 *
 * <p>The records at the heap's top are a stack. A bit of the page's header ({@link Slotted#ON_TOP})
 * tells whether the heap begins with a record, and each record tells whether the next bytes are
 * one. So a record that is dropped at the top gives its bytes back at once, together with the free
 * ones behind it. A record that is dropped elsewhere is garbage. Updates of values that keep their
 * length therefore fill and empty the same bytes again and again, and need no compaction.
 */
final class Predecessors {
  /** Offset of the writer in a record. */
  static final int WRITER = 2;

  /** Bytes of a record before the value, without and with a writer. */
  static final int HEADER = 2;

  static final int WITH_WRITER = HEADER + Long.BYTES;

  private static final int FREE = 0x4000;
  private static final int CHAINED = 0x8000;
  private static final int SIZE = 0xFFF;

  private Predecessors() {}

  /** Bytes of a record before the value, of a row with these flags. */
  static int header(int flags) {
    return (flags & LeafCell.PREDECESSOR_FOR_ALL) != 0 ? HEADER : WITH_WRITER;
  }

  /** The same, of a current version that becomes the predecessor: KEEP or KEEP_FOR_ALL. */
  static int headerToKeep(int keep) {
    return keep == PageOps.KEEP ? WITH_WRITER : HEADER;
  }

  /** Bytes of the record at an offset. */
  static int size(MemorySegment page, int record) {
    return Page.getShort(page, record) & SIZE;
  }

  /** Whether the record at an offset is of no row. */
  static boolean isFree(MemorySegment page, int record) {
    return (Page.getShort(page, record) & FREE) != 0;
  }

  /** Whether the bytes behind the record at an offset are a record. */
  static boolean isChained(MemorySegment page, int record) {
    return (Page.getShort(page, record) & CHAINED) != 0;
  }

  /**
   * Makes a record at the top of the heap. The page has so many contiguous bytes.
   *
   * @return its offset
   */
  static int place(MemorySegment page, int size) {
    int at = Slotted.heapTop(page) - size;
    Page.putShort(page, at, size | (Slotted.isRecordOnTop(page) ? CHAINED : 0));
    Page.putShort(page, Slotted.HEAP_TOP, at);
    Slotted.recordOnTop(page, /* isRecord= */ true);
    return at;
  }

  /**
   * Drops the record at an offset.
   *
   * @throws IllegalStateException if the stack leads out of the page: it is not the expected page
   */
  static void drop(MemorySegment page, int record) {
    int head = Page.getShort(page, record);
    int top = Slotted.heapTop(page);
    if (record != top || !Slotted.isRecordOnTop(page)) {
      Page.putShort(page, record, head | FREE);
      Slotted.addGarbage(page, head & SIZE);
      return;
    }
    top += head & SIZE;
    while ((head & CHAINED) != 0) {
      if (top + HEADER > Page.SIZE) {
        throw leadsOut();
      }
      head = Page.getShort(page, top);
      if ((head & FREE) == 0) {
        Page.putShort(page, Slotted.HEAP_TOP, top);
        return;
      }
      if ((head & SIZE) < HEADER || top + (head & SIZE) > Page.SIZE) {
        throw leadsOut();
      }
      top += head & SIZE;
      Slotted.addGarbage(page, -(head & SIZE));
    }
    Page.putShort(page, Slotted.HEAP_TOP, top);
    Slotted.recordOnTop(page, /* isRecord= */ false);
  }

  private static IllegalStateException leadsOut() {
    return new IllegalStateException("the former versions on the page lead out of it");
  }

  /**
   * Makes the predecessor's record of a cell, if it leads to one.
   *
   * @param former a page that has the record in its place
   */
  static void moveTo(MemorySegment page, int cell, MemorySegment former) {
    int from = LeafCell.record(LeafCell.shape(page, cell));
    if (from != 0) {
      int size = size(former, from);
      int to = place(page, size);
      MemorySegment.copy(former, from + HEADER, page, to + HEADER, size - HEADER);
      Page.putShort(page, cell + LeafCell.RECORD, to);
    }
  }
}
