package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * The reference that a row holds instead of a value that is too large for it.
 *
 * <pre>  0 u32 page   4 u64 length, but for its highest byte, which is slot + 1
 * </pre>
 *
 * @param page its first page, or the one that it shares with others
 * @param slot its slot on a page of {@link SharedValues}; {@link #WHOLE}: the page is the head of a
 *     chain
 * @param length bytes of the value
 */
public record ValueReference(int page, int slot, long length) {
  /** The slot of a value that has its own pages. */
  public static final int WHOLE = -1;

  /** Bytes of a reference. */
  public static final int BYTES = LeafCell.REFERENCE;

  /** Bytes of the longest value. */
  public static final long MAX_LENGTH = 1L << 30;

  private static final int LENGTH = 4;
  private static final int SLOT_SHIFT = 56;
  private static final long LENGTH_MASK = (1L << SLOT_SHIFT) - 1;

  /** The reference at an offset of a page. */
  public static ValueReference of(MemorySegment page, int offset) {
    return of(Page.getInt(page, offset), Page.getLong(page, offset + LENGTH));
  }

  /** The reference at the beginning of an array. */
  public static ValueReference of(byte[] bytes) {
    return of(LittleEndian.getInt(bytes, 0), LittleEndian.getLong(bytes, LENGTH));
  }

  private static ValueReference of(int page, long slotAndLength) {
    return new ValueReference(
        page, (int) (slotAndLength >>> SLOT_SHIFT) - 1, slotAndLength & LENGTH_MASK);
  }

  /** Length of the value to which the reference in an array leads. */
  public static long length(byte[] bytes) {
    return LittleEndian.getLong(bytes, LENGTH) & LENGTH_MASK;
  }

  /**
   * Whether such a value is possible: its page can be linked to, its slot is one that a page can
   * have, and its length is possible for a value in such a place.
   */
  public boolean isLegal() {
    return PageStructure.isLink(page)
        && slot < SharedValues.MAX_SLOTS
        && length >= 0
        && length <= (isShared() ? SharedValues.MAX_VALUE : MAX_LENGTH);
  }

  /** Whether the value shares its page with others. */
  public boolean isShared() {
    return slot != WHOLE;
  }

  /** The reference as a row has it. */
  public byte[] bytes() {
    byte[] bytes = new byte[BYTES];
    LittleEndian.putInt(bytes, 0, page);
    LittleEndian.putLong(bytes, LENGTH, (slot + 1L) << SLOT_SHIFT | length);
    return bytes;
  }

  /** Whether a page has the value, with this writer. */
  public boolean leadsTo(MemorySegment there, long writer) {
    return leadsToValue(there)
        && writer == (isShared() ? SharedValues.writer(there, slot) : OverflowPage.writer(there));
  }

  /** Whether a page has a value at the place of this reference. */
  public boolean leadsToValue(MemorySegment there) {
    return isShared()
        ? Page.type(there) == Page.SHARED_VALUES && SharedValues.isTaken(there, slot)
        : Page.type(there) == Page.OVERFLOW_HEAD;
  }

  /** Offset of the value's superseder on its page. */
  public int supersederOffset() {
    return isShared() ? SharedValues.supersederOffset(slot) : OverflowPage.SUPERSEDER;
  }

  /** Length of the value according to its page. */
  public long lengthOn(MemorySegment there) {
    return isShared() ? SharedValues.length(there, slot) : OverflowPage.length(there);
  }

  /** The place in words, for messages. */
  public String place() {
    String id = "page " + Integer.toUnsignedString(page);
    return isShared() ? "slot " + slot + " of " + id : id;
  }
}
