package org.revenantdb.recovery.format;

import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_ID;

import java.lang.foreign.MemorySegment;

/**
 * Pages 1 and 2 of the data file, written in turn; {@code docs/format.md} §1.2.
 *
 * <pre>
 *   0     4         8           16         24         32      40           48        56     60      64       72      80      8192
 *   +-----+---------+-----------+----------+----------+-------+------------+---------+------+-------+--------+-------+--------+
 *   | CRC | page id | magic     | sequence | analysis | redo  | checkpoint | durable | life | clean | end of | high  | zeros  |
 *   |     | = 1, 2  | RVNTCTRL  |          | point    | point | LSN        | LSN     |      | 0, 1  | log    | water |        |
 *   +-----+---------+-----------+----------+----------+-------+------------+---------+------+-------+--------+-------+--------+
 * </pre>
 */
public final class ControlSlotLayout {
  /** The first of the two pages. */
  public static final int FIRST_PAGE = 1;

  /** The second of the two pages. */
  public static final int SECOND_PAGE = 2;

  /** Eight bytes: {@link #MAGIC_VALUE}. */
  public static final int MAGIC = PAGE_ID + Integer.BYTES;

  /** {@code RVNTCTRL}, as a little-endian number. */
  public static final long MAGIC_VALUE = 0x4C52_5443_544E_5652L;

  /** u64: which slot is newer. */
  public static final int SEQUENCE = MAGIC + Long.BYTES;

  /** u64: where analysis starts. */
  public static final int ANALYSIS_POINT = SEQUENCE + Long.BYTES;

  /** u64: where redo starts. */
  public static final int REDO_POINT = ANALYSIS_POINT + Long.BYTES;

  /** u64: start of the checkpoint's first record. */
  public static final int CHECKPOINT_LSN = REDO_POINT + Long.BYTES;

  /** u64: durable LSN when written. */
  public static final int DURABLE_LSN = CHECKPOINT_LSN + Long.BYTES;

  /** u32: the life that wrote it. */
  public static final int LIFE = DURABLE_LSN + Long.BYTES;

  /** u32: 1 = closed cleanly, else 0. */
  public static final int CLEAN = LIFE + Integer.BYTES;

  /** u64: end of the log at a clean close, else 0. */
  public static final int END_OF_LOG = CLEAN + Integer.BYTES;

  /** u64: pages in use by the file. */
  public static final int HIGH_WATER_PAGES = END_OF_LOG + Long.BYTES;

  /** The rest of the page is zero. */
  public static final int END = HIGH_WATER_PAGES + Long.BYTES;

  private ControlSlotLayout() {}

  /**
   * The magic.
   *
   * @param page the page
   * @return the field
   */
  public static long magic(MemorySegment page) {
    return page.get(Numbers.U64, MAGIC);
  }

  /**
   * Stores the magic.
   *
   * @param page the page
   * @param value the field
   */
  public static void magic(MemorySegment page, long value) {
    page.set(Numbers.U64, MAGIC, value);
  }

  /**
   * The sequence number.
   *
   * @param page the page
   * @return the field
   */
  public static long sequence(MemorySegment page) {
    return page.get(Numbers.U64, SEQUENCE);
  }

  /**
   * Stores the sequence number.
   *
   * @param page the page
   * @param value the field
   */
  public static void sequence(MemorySegment page, long value) {
    page.set(Numbers.U64, SEQUENCE, value);
  }

  /**
   * Where analysis starts.
   *
   * @param page the page
   * @return the field
   */
  public static long analysisPoint(MemorySegment page) {
    return page.get(Numbers.U64, ANALYSIS_POINT);
  }

  /**
   * Stores where analysis starts.
   *
   * @param page the page
   * @param value the field
   */
  public static void analysisPoint(MemorySegment page, long value) {
    page.set(Numbers.U64, ANALYSIS_POINT, value);
  }

  /**
   * Where redo starts.
   *
   * @param page the page
   * @return the field
   */
  public static long redoPoint(MemorySegment page) {
    return page.get(Numbers.U64, REDO_POINT);
  }

  /**
   * Stores where redo starts.
   *
   * @param page the page
   * @param value the field
   */
  public static void redoPoint(MemorySegment page, long value) {
    page.set(Numbers.U64, REDO_POINT, value);
  }

  /**
   * Where the checkpoint starts.
   *
   * @param page the page
   * @return the field
   */
  public static long checkpointLsn(MemorySegment page) {
    return page.get(Numbers.U64, CHECKPOINT_LSN);
  }

  /**
   * Stores where the checkpoint starts.
   *
   * @param page the page
   * @param value the field
   */
  public static void checkpointLsn(MemorySegment page, long value) {
    page.set(Numbers.U64, CHECKPOINT_LSN, value);
  }

  /**
   * The durable LSN.
   *
   * @param page the page
   * @return the field
   */
  public static long durableLsn(MemorySegment page) {
    return page.get(Numbers.U64, DURABLE_LSN);
  }

  /**
   * Stores the durable LSN.
   *
   * @param page the page
   * @param value the field
   */
  public static void durableLsn(MemorySegment page, long value) {
    page.set(Numbers.U64, DURABLE_LSN, value);
  }

  /**
   * The life.
   *
   * @param page the page
   * @return the field
   */
  public static int life(MemorySegment page) {
    return page.get(Numbers.U32, LIFE);
  }

  /**
   * Stores the life.
   *
   * @param page the page
   * @param value the field
   */
  public static void life(MemorySegment page, int value) {
    page.set(Numbers.U32, LIFE, value);
  }

  /**
   * Whether the database was closed cleanly.
   *
   * @param page the page
   * @return the field
   */
  public static int clean(MemorySegment page) {
    return page.get(Numbers.U32, CLEAN);
  }

  /**
   * Stores whether the database was closed cleanly.
   *
   * @param page the page
   * @param value the field
   */
  public static void clean(MemorySegment page, int value) {
    page.set(Numbers.U32, CLEAN, value);
  }

  /**
   * The end of the log.
   *
   * @param page the page
   * @return the field
   */
  public static long endOfLog(MemorySegment page) {
    return page.get(Numbers.U64, END_OF_LOG);
  }

  /**
   * Stores the end of the log.
   *
   * @param page the page
   * @param value the field
   */
  public static void endOfLog(MemorySegment page, long value) {
    page.set(Numbers.U64, END_OF_LOG, value);
  }

  /**
   * The number of pages in use.
   *
   * @param page the page
   * @return the field
   */
  public static long highWaterPages(MemorySegment page) {
    return page.get(Numbers.U64, HIGH_WATER_PAGES);
  }

  /**
   * Stores the number of pages in use.
   *
   * @param page the page
   * @param value the field
   */
  public static void highWaterPages(MemorySegment page, long value) {
    page.set(Numbers.U64, HIGH_WATER_PAGES, value);
  }
}
