package org.revenantdb.jmh.baseline;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A page LSN of ten bytes that several threads raise at once, as in SQL Server. It is longer than a
 * word, so one bit of it is a lock for writers, and readers read twice.
 *
 * <p>Any number of threads may raise and read the same one. A writer spins while another writes; a
 * reader writes nothing, and spins during a write. The bytes belong to the caller, are off heap,
 * and must exist as long as they are used. It throws only for wrong arguments.
 */
public final class TenByteLsn {
  /*
   * Source      Kodandaramaih, Kodavalla, Venkataramanappa, "Concurrent Updates to Pages with Fixed-Size Rows Using
   *             Lock-Free Algorithms", VLDB 2020, section 3.3, Figures 5 to 7.
   *
   * Bytes       0 u32 file sequence number   4 u32 block offset   8 u16 slot, its highest bit
   *             SLOT_MASK   (Figure 5)
   *             Little-endian. The two bytes behind are not part of it and are never changed.
   *
   * State       slot bit 15   first eight bytes, slot      may be changed by
   *             0             one LSN that was raised to   a thread that sets the bit
   *             1             any mixture of two           only the thread that has set it
   *
   * Ordering    The paper is about x86, and shows the order within its pairs of reads only in the
   *             figure. It needs: bit, then first eight bytes, then slot without the bit, each
   *             store after the one before; and each read after the one before. Suppose the slot
   *             were read before the first eight bytes in the first pair and after them in the
   *             second. Then (A, 1) -> (B, 2) -> (C, 1) could be read as (B, 1), which never
   *             existed: slots repeat, blocks do not.
   *
   * Why it is   The first eight bytes only grow. If both reads of them agree, they were the same
   * whole       in between, when the slot was read. It had no bit, so it was the slot of a finished
   *             raise with these eight bytes.
   */

  /** Bytes that it takes. */
  public static final int BYTES = 10;

  /** The highest slot: one bit less than it has room for. */
  public static final int MAX_SLOT = 0x7FFF;

  static final int SLOT_MASK = 0x8000;
  static final int SLOT = 8;

  private static final VarHandle FIRST =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle SLOT_ALONE =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  /** The slot and the bytes behind it: 32 bits, as for InterlockedBitTestAndSet. */
  private static final VarHandle SLOT_AND_MORE =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private final MemorySegment page;
  private final long at;
  private final long slotAt;

  /**
   * An LSN in a page.
   *
   * @param at of its first byte, a multiple of eight; twelve bytes from there on are in the page
   */
  public TenByteLsn(MemorySegment page, long at) {
    if ((page.address() + at) % Long.BYTES != 0 || at < 0 || at + 12 > page.byteSize()) {
      throw new IllegalArgumentException("no place for ten bytes: " + at);
    }
    this.page = page;
    this.at = at;
    this.slotAt = at + SLOT;
  }

  /**
   * An LSN. Files and blocks are unsigned.
   *
   * @param block the file sequence number, and in the lower half the block offset
   * @param slot 0 to {@link #MAX_SLOT}
   */
  public record Lsn(long block, int slot) implements Comparable<Lsn> {
    @Override
    public int compareTo(Lsn other) {
      int blocks = Long.compareUnsigned(block, other.block);
      return blocks != 0 ? blocks : Integer.compare(slot, other.slot);
    }
  }

  /**
   * Raises it, unless it is as high already (Figure 7, SetPFSPageLsn).
   *
   * @throws IllegalArgumentException if the slot is negative or above {@link #MAX_SLOT}
   */
  public void raise(long block, int slot) {
    if (slot < 0 || slot > MAX_SLOT) {
      throw new IllegalArgumentException("no slot: " + slot);
    }
    if (isBelow(read(), block, slot)) {
      lock();
      int newSlot = slot();
      if (isBelow(new Lsn(block(), newSlot), block, slot)) {
        FIRST.setRelease(page, at, Long.rotateLeft(block, Integer.SIZE));
        newSlot = slot;
      }
      SLOT_ALONE.setRelease(page, slotAt, (short) newSlot); // without the bit
    }
  }

  /** Reads it, from memory that is never written (Figure 6, GetPFSPageLsn). */
  public Lsn read() {
    while (true) {
      long block = block();
      int slot = slotAndMask();
      long blockAgain = block();
      int slotAgain = slotAndMask();
      if (isWhole(block, slot, blockAgain, slotAgain)) {
        return new Lsn(block, slot);
      }
      Thread.onSpinWait();
    }
  }

  /** Whether two reads in a row are one LSN. */
  static boolean isWhole(long block, int slot, long blockAgain, int slotAgain) {
    return block == blockAgain && slot == slotAgain && ((slot | slotAgain) & SLOT_MASK) == 0;
  }

  private static boolean isBelow(Lsn lsn, long block, int slot) {
    int blocks = Long.compareUnsigned(lsn.block, block);
    return blocks < 0 || (blocks == 0 && lsn.slot < slot);
  }

  private void lock() {
    while (((int) SLOT_AND_MORE.getAndBitwiseOr(page, slotAt, SLOT_MASK) & SLOT_MASK) != 0) {
      Thread.onSpinWait();
    }
  }

  /** The file sequence number comes first in memory, so it is the lower half there. */
  private long block() {
    return Long.rotateLeft((long) FIRST.getAcquire(page, at), Integer.SIZE);
  }

  private int slotAndMask() {
    return (short) SLOT_ALONE.getAcquire(page, slotAt) & 0xFFFF;
  }

  private int slot() {
    return slotAndMask() & MAX_SLOT;
  }
}
