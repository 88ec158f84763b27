package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** The first 16 bytes of a page: checksum, page id, page LSN ({@code docs/format.md} 1.3). */
final class PageHeader {
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final long CRC = 0;
  private static final long PAGE_ID = 4;
  private static final long LSN = 8;

  private PageHeader() {}

  static int pageId(MemorySegment page) {
    return page.get(INT, PAGE_ID);
  }

  static void setPageId(MemorySegment page, int pageId) {
    page.set(INT, PAGE_ID, pageId);
  }

  static long lsn(MemorySegment page) {
    return page.get(LONG, LSN);
  }

  static int storedChecksum(MemorySegment page) {
    return page.get(INT, CRC);
  }

  static int checksum(MemorySegment page) {
    CRC32C crc = new CRC32C();
    crc.update(page.asSlice(PAGE_ID).asByteBuffer());
    return (int) crc.getValue();
  }

  static void seal(MemorySegment page) {
    page.set(INT, CRC, checksum(page));
  }

  /** Whether all bytes are zero. */
  static boolean isBlank(MemorySegment page) {
    for (long at = 0; at < page.byteSize(); at += Long.BYTES) {
      if (page.get(LONG, at) != 0) {
        return false;
      }
    }
    return true;
  }
}
