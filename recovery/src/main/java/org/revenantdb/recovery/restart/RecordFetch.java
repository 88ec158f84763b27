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
import org.revenantdb.recovery.segment.UnwrittenLog;

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
  /** What is read at once if more of it is wanted: so records of a hot page cost no read each. */
  private static final int WINDOW = 1 << 16;

  private final SegmentCatalog catalog;
  private final ConcurrentHashMap<Long, StorageFile> open = new ConcurrentHashMap<>();
  private boolean closed;

  RecordFetch(SegmentCatalog catalog) {
    this.catalog = catalog;
  }

  /** Where one page's records are read, in the order of the log. */
  Window window() {
    return new Window();
  }

  /**
   * A piece of the log that was read: records that lie close to each other come with one read. One
   * thread.
   */
  final class Window {
    private byte[] bytes = new byte[0];
    private long from;
    private long to;

    /**
     * Hands a part of a record to a target.
     *
     * @param start where the record begins
     * @param length how long it is
     * @param wanted up to where more will be asked for soon
     * @param at where the part's header is, from the start of the record
     * @param page the page that the part is of
     */
    void handOut(long start, int length, long wanted, int at, int page, RedoTarget target) {
      if (start < from || start + length > to) {
        read(start, Math.max(length, wanted - start <= WINDOW ? inSegment(start) : 0));
      }
      int record = (int) (start - from);
      if (start + length > to || !isSame(record, start, length)) {
        throw changed(start);
      }
      int part = record + at;
      PartKind kind = PartKind.of(bytes[part + LogRecordLayout.PART_KIND]);
      if (LittleEndian.getInt(bytes, part + LogRecordLayout.PART_PAGE) != page || kind == null) {
        throw changed(start);
      }
      target.redo(
          page,
          start + length,
          kind,
          bytes,
          part + LogRecordLayout.PART_HEADER,
          LittleEndian.getShort(bytes, part + LogRecordLayout.PART_LENGTH));
    }

    /** A window ends where its segment does: there need be no other behind it. */
    private int inSegment(long start) {
      int segmentSize = catalog.directory().segmentSize();
      long number = SegmentLayout.number(start, segmentSize);
      return (int) Math.min(WINDOW, SegmentLayout.firstLsn(number + 1, segmentSize) - start);
    }

    /** As many bytes as there are. */
    private void read(long start, int wanted) {
      if (bytes.length < wanted) {
        bytes = new byte[wanted];
      }
      from = start;
      to = start;
      int segmentSize = catalog.directory().segmentSize();
      @Nullable UnwrittenLog rest = catalog.unwritten();
      while (to < start + wanted) {
        if (rest != null && rest.isFrom(to)) {
          to += rest.copy(to, bytes, (int) (to - start), (int) (start + wanted - to));
          return;
        }
        long number = SegmentLayout.number(to, segmentSize);
        long end = SegmentLayout.firstLsn(number + 1, segmentSize);
        int here = (int) Math.min(start + wanted - to, end - to);
        if (rest != null) {
          here = rest.inSegments(to, here);
        }
        int read =
            segment(number)
                .readUpTo(
                    SegmentLayout.offset(to, segmentSize),
                    MemorySegment.ofArray(bytes).asSlice(to - start, here));
        to += read;
        if (read < here) {
          return;
        }
      }
    }

    private boolean isSame(int record, long start, int length) {
      CRC32C crc = new CRC32C();
      crc.update(bytes, record + LogRecordLayout.LSN, length - LogRecordLayout.LSN);
      return LittleEndian.getInt(bytes, record + LogRecordLayout.LENGTH) == length
          && LittleEndian.getLong(bytes, record + LogRecordLayout.LSN) == start + length
          && LittleEndian.getInt(bytes, record + LogRecordLayout.CRC) == (int) crc.getValue();
    }
  }

  private CorruptDataException changed(long start) {
    return LogDamage.record(catalog, start, "it is not what it was when the database was opened");
  }

  private StorageFile segment(long number) {
    @Nullable StorageFile file = open.get(number);
    return file != null ? file : open(number);
  }

  private synchronized StorageFile open(long number) {
    if (closed) {
      throw new IllegalStateException("the log is not read any more");
    }
    return open.computeIfAbsent(number, one -> catalog.directory().open(one, OpenMode.READ));
  }

  @Override
  public synchronized void close() {
    closed = true;
    open.values().forEach(StorageFile::close);
    open.clear();
  }
}
