package org.revenantdb.recovery.restart;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.CorruptDataException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.PartKind;

/**
 * Reads single records of the log again, which analysis has read and found good.
 *
 * <p>Owns an opening of each segment that it has read from, until it is closed.
 *
 * <p>Threads: any, several at once. It is closed when nobody reads any more.
 *
 * <p>Failure: {@link CorruptDataException} if a record is not what it was.
 */
final class RecordFetch implements AutoCloseable {
  private final SegmentCatalog catalog;
  private final ConcurrentHashMap<Long, StorageFile> open = new ConcurrentHashMap<>();

  RecordFetch(SegmentCatalog catalog) {
    this.catalog = catalog;
  }

  /**
   * Hands a part of a record to a target.
   *
   * @param start where the record begins
   * @param length how long it is
   * @param at where the part's header is, from the start of the record
   * @param page the page that the part is of
   */
  void handOut(long start, int length, int at, int page, RedoTarget target) {
    byte[] record = read(start, length);
    PartKind kind = PartKind.of(record[at + LogRecordLayout.PART_KIND]);
    if (LittleEndian.getInt(record, at + LogRecordLayout.PART_PAGE) != page || kind == null) {
      throw changed(start);
    }
    target.redo(
        page,
        start + length,
        kind,
        record,
        at + LogRecordLayout.PART_HEADER,
        LittleEndian.getShort(record, at + LogRecordLayout.PART_LENGTH));
  }

  private byte[] read(long start, int length) {
    byte[] record = new byte[length];
    int segmentSize = catalog.directory().segmentSize();
    int done = 0;
    while (done < length) {
      long position = start + done;
      long number = SegmentLayout.number(position, segmentSize);
      long end = SegmentLayout.firstLsn(number + 1, segmentSize);
      int here = (int) Math.min(length - done, end - position);
      segment(number)
          .read(
              SegmentLayout.offset(position, segmentSize),
              MemorySegment.ofArray(record).asSlice(done, here));
      done += here;
    }
    CRC32C crc = new CRC32C();
    crc.update(record, LogRecordLayout.LSN, length - LogRecordLayout.LSN);
    if (LittleEndian.getInt(record, LogRecordLayout.LENGTH) != length
        || LittleEndian.getLong(record, LogRecordLayout.LSN) != start + length
        || LittleEndian.getInt(record, LogRecordLayout.CRC) != (int) crc.getValue()) {
      throw changed(start);
    }
    return record;
  }

  private CorruptDataException changed(long start) {
    return LogDamage.record(catalog, start, "it is not what it was when the database was opened");
  }

  private StorageFile segment(long number) {
    @Nullable StorageFile file = open.get(number);
    return file != null ? file : open(number);
  }

  private StorageFile open(long number) {
    StorageFile opened = catalog.directory().open(number, OpenMode.READ);
    @Nullable StorageFile other = open.putIfAbsent(number, opened);
    if (other == null) {
      return opened;
    }
    opened.close();
    return other;
  }

  @Override
  public void close() {
    open.values().forEach(StorageFile::close);
    open.clear();
  }
}
