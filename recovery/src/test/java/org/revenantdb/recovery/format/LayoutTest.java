package org.revenantdb.recovery.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The numbers of {@code docs/format.md}, repeated here: a change of one changes the format. */
class LayoutTest {
  private final MemorySegment page = MemorySegment.ofArray(new byte[PageHeaderLayout.PAGE_SIZE]);

  private String text(int offset) {
    byte[] bytes = (byte[]) page.heapBase().orElseThrow();
    return new String(bytes, offset, 8, StandardCharsets.US_ASCII);
  }

  @Test
  void pageHeader() {
    assertEquals(8192, PageHeaderLayout.PAGE_SIZE);
    assertEquals(0, PageHeaderLayout.CRC);
    assertEquals(4, PageHeaderLayout.PAGE_ID);
    assertEquals(8, PageHeaderLayout.PAGE_LSN);
    assertEquals(16, PageHeaderLayout.TYPE);
    assertEquals(17, PageHeaderLayout.FLAGS);
    assertEquals(18, PageHeaderLayout.END);
    assertEquals(0xFFFF_FFFFL * 8192, PageHeaderLayout.position(-1));
  }

  @Test
  void pageHeader_isLittleEndian() {
    PageHeaderLayout.crc(page, 0x01020304);
    PageHeaderLayout.pageId(page, 0x05060708);
    PageHeaderLayout.pageLsn(page, 0x1112131415161718L);
    byte[] bytes = (byte[]) page.heapBase().orElseThrow();
    assertEquals(0x04, bytes[0]);
    assertEquals(0x08, bytes[4]);
    assertEquals(0x18, bytes[8]);
    assertEquals(0x11, bytes[15]);
    bytes[16] = (byte) 200;
    assertEquals(200, PageHeaderLayout.type(page));
  }

  @Test
  void segment() {
    assertEquals(32, SegmentLayout.BEGIN);
    assertEquals(40, SegmentLayout.SIZE);
    assertEquals(84, SegmentLayout.FULL_SIZE);
    assertEquals(4096, SegmentLayout.FIRST_BEGIN);
    assertEquals(32768, SegmentLayout.FIRST_SIZE);
    assertEquals(38, LogRecordLayout.AHEAD);
    assertEquals(SegmentLayout.payload(SegmentLayout.SMALLEST_SIZE), LogRecordLayout.AHEAD_UNIT);
  }

  @Test
  void fileHeader() {
    assertEquals(8, FileHeaderLayout.MAGIC);
    assertEquals(16, FileHeaderLayout.VERSION);
    assertEquals(20, FileHeaderLayout.PAGE_SIZE);
    assertEquals(24, FileHeaderLayout.DATABASE_ID);
    assertEquals(40, FileHeaderLayout.SEGMENT_SIZE);
    assertEquals(44, FileHeaderLayout.RESERVED);
    assertEquals(48, FileHeaderLayout.CREATED);
    assertEquals(56, FileHeaderLayout.END);
    FileHeaderLayout.setMagic(page);
    assertEquals("RVNTDATA", text(8));
  }

  @Test
  void controlSlot() {
    assertEquals(8, ControlSlotLayout.MAGIC);
    assertEquals(16, ControlSlotLayout.SEQUENCE);
    assertEquals(24, ControlSlotLayout.ANALYSIS_POINT);
    assertEquals(32, ControlSlotLayout.REDO_POINT);
    assertEquals(40, ControlSlotLayout.CHECKPOINT_LSN);
    assertEquals(48, ControlSlotLayout.DURABLE_LSN);
    assertEquals(56, ControlSlotLayout.LIFE);
    assertEquals(60, ControlSlotLayout.CLEAN);
    assertEquals(64, ControlSlotLayout.END_OF_LOG);
    assertEquals(72, ControlSlotLayout.HIGH_WATER_PAGES);
    assertEquals(80, ControlSlotLayout.END);
    ControlSlotLayout.magic(page, ControlSlotLayout.MAGIC_VALUE);
    assertEquals("RVNTCTRL", text(8));
  }

  @Test
  void doubleWrite() {
    assertEquals(4, DoubleWriteLayout.VERSION);
    assertEquals(8, DoubleWriteLayout.MAGIC);
    assertEquals(16, DoubleWriteLayout.DATABASE_ID);
    assertEquals(32, DoubleWriteLayout.BATCH);
    assertEquals(40, DoubleWriteLayout.HIGHEST_FORCED);
    assertEquals(48, DoubleWriteLayout.PAGES);
    assertEquals(64, DoubleWriteLayout.ENTRIES);
    assertEquals(8, DoubleWriteLayout.ENTRY_SIZE);
    assertEquals(8192, DoubleWriteLayout.imagePosition(0));
    assertEquals(129 * 8192, DoubleWriteLayout.fileSize(DoubleWriteLayout.MAX_PAGES));
    assertEquals(40_960, DoubleWriteLayout.fileSize(DoubleWriteLayout.FIRST_ROOM));
    assertTrue(
        DoubleWriteLayout.ENTRIES + DoubleWriteLayout.MAX_PAGES * DoubleWriteLayout.ENTRY_SIZE
            <= PageHeaderLayout.PAGE_SIZE);
    DoubleWriteLayout.magic(page, DoubleWriteLayout.MAGIC_VALUE);
    assertEquals("RVNTDBLW", text(8));
  }
}
