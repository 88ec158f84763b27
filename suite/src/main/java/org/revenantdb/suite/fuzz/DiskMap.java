package org.revenantdb.suite.fuzz;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.recovery.format.DoubleWriteLayout;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.suite.fuzz.DamagedDisk.LogPlace;

/** The places in the files of a moment: pages of each type, records, images. */
final class DiskMap {

  static final String DATA = "revenant.data";
  static final String DOUBLE_WRITE = "revenant.dw";

  private static final int PAGE = PageHeaderLayout.PAGE_SIZE;

  /** A record of the log. */
  record LogRecord(String file, long offset, int type, byte[] bytes) {}

  private final DamagedDisk disk;
  private final Map<Integer, List<Integer>> pages = new TreeMap<>();
  private final List<LogRecord> records = new ArrayList<>();
  private final List<String> segments = new ArrayList<>();
  private final int images;
  private long endOfLog;

  DiskMap(Moment moment) {
    disk = new DamagedDisk(moment.image());
    findPages();
    disk.files().stream().filter(file -> file.endsWith(".log")).forEach(segments::add);
    findRecords();
    images = countImages();
  }

  DamagedDisk disk() {
    return disk;
  }

  /** Pages by type. */
  Map<Integer, List<Integer>> pages() {
    return pages;
  }

  List<LogRecord> records() {
    return records;
  }

  List<String> segments() {
    return segments;
  }

  /** Images in the batch of the double-write file. */
  int images() {
    return images;
  }

  /** Pages of the data file. */
  int pageCount() {
    FileContent data = disk.file(DATA);
    return data == null ? 0 : (int) (data.size() / PAGE);
  }

  long endOfLog() {
    return endOfLog;
  }

  byte[] page(int page) {
    return disk.bytes(DATA, (long) page * PAGE, PAGE);
  }

  private void findPages() {
    for (int page = PageHeaderLayout.FIRST_POOLED_PAGE; page < pageCount(); page++) {
      byte[] bytes = page(page);
      ByteBuffer numbers = DamagedDisk.little(bytes);
      if (numbers.getInt(0) == DamagedDisk.crc(bytes, 4, PAGE) && numbers.getInt(4) == page) {
        int type = bytes[PageHeaderLayout.TYPE] & 0xFF;
        pages.computeIfAbsent(type, any -> new ArrayList<>()).add(page);
      }
    }
  }

  /** Finds records from the beginning of each segment; a life begins with one. */
  private void findRecords() {
    for (String segment : segments) {
      byte[] header = disk.bytes(segment, 0, SegmentLayout.CHECKED);
      FileContent content = disk.file(segment);
      if (content == null
          || DamagedDisk.little(header).getInt(0)
              != DamagedDisk.crc(header, 4, SegmentLayout.CHECKED)) {
        continue;
      }
      walk(segment, SegmentLayout.HEADER, (int) content.size());
    }
  }

  private void walk(String segment, long start, int size) {
    LogPlace place = LogPlace.of(segment, start);
    boolean hasFound = false;
    while (place != null && place.offset() + LogRecordLayout.HEADER <= size) {
      byte[] header = disk.read(place, LogRecordLayout.HEADER);
      int length = DamagedDisk.little(header).getInt(LogRecordLayout.LENGTH);
      byte[] bytes = LogRecordLayout.isSane(length) ? disk.read(place, length) : null;
      if (bytes != null && isGood(bytes)) {
        int type = bytes[LogRecordLayout.TYPE] & 0xFF;
        records.add(new LogRecord(segment, place.offset(), type, bytes));
        hasFound = true;
        endOfLog = Math.max(endOfLog, DamagedDisk.little(bytes).getLong(LogRecordLayout.LSN));
        place = behind(place, length, size);
      } else {
        place =
            !hasFound && isNearTheBeginning(place)
                ? new LogPlace(place.begin(), place.offset() + 8)
                : null;
      }
    }
  }

  /** A segment begins in the middle of a record; the first valid one is not far. */
  private static boolean isNearTheBeginning(LogPlace place) {
    return place.offset() < SegmentLayout.HEADER + (1 << 14);
  }

  private @Nullable LogPlace behind(LogPlace place, int length, int size) {
    long offset = place.offset() + length;
    return offset < size ? new LogPlace(place.begin(), offset) : null;
  }

  private static boolean isGood(byte[] record) {
    return DamagedDisk.little(record).getInt(LogRecordLayout.CRC)
        == DamagedDisk.crc(record, LogRecordLayout.LSN, record.length);
  }

  private int countImages() {
    FileContent file = disk.file(DOUBLE_WRITE);
    if (file == null || file.size() < PAGE) {
      return 0;
    }
    int count =
        DamagedDisk.little(disk.bytes(DOUBLE_WRITE, 0, PAGE)).getInt(DoubleWriteLayout.PAGES);
    return Math.clamp(count, 0, DoubleWriteLayout.MAX_PAGES);
  }
}
