package org.revenantdb.recovery.restart;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.MappingFault;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.segment.SegmentPlace;
import org.revenantdb.recovery.segment.UnwrittenLog;

/**
 * Reads single records of the log again, which analysis has read and found good.
 *
 * <p>A record comes from the mapped log, on any thread, or from the files, on a thread that is
 * never interrupted. Owns the mapping, and an opening of each segment that it has read from, until
 * it is closed.
 *
 * <p>Threads: any, several at once. It is closed when no thread reads any more.
 *
 * <p>Failure: {@link DamagedFileException} if a record is not what it was.
 */
final class RecordFetch implements AutoCloseable {
  /** What is read at once if more of it is wanted: so records of a hot page cost no read each. */
  private static final int WINDOW = 1 << 16;

  private final SegmentCatalog catalog;
  private final ConcurrentHashMap<Long, StorageFile> open = new ConcurrentHashMap<>();
  private volatile MappedLog mapped = MappedLog.nothing();
  private boolean closed;

  RecordFetch(SegmentCatalog catalog) {
    this.catalog = catalog;
  }

  /**
   * Maps what will be read, if the file system can. Call it before the first read, on a thread that
   * is never interrupted.
   *
   * @param first the lowest position that will be read
   * @param last the highest one
   */
  void map(long first, long last) {
    mapped = MappedLog.of(catalog, first, last);
  }

  /** Whether records are in memory, so that no file is read for most of them. */
  boolean isMapped() {
    return mapped.isReadable();
  }

  /**
   * Where one page's records are read, in the order of the log.
   *
   * @param fromFiles whether files may be read
   */
  Window window(boolean fromFiles) {
    return new Window(fromFiles);
  }

  /**
   * A piece of the log that was read: records that lie close to each other come with one read. One
   * thread.
   */
  final class Window {
    private static final int USUAL = 512;

    private final boolean fromFiles;
    private byte[] bytes = new byte[USUAL];
    private long from;
    private long to;

    private Window(boolean fromFiles) {
      this.fromFiles = fromFiles;
    }

    /**
     * Hands a part of a record to a target.
     *
     * @param start where the record begins
     * @param length how long it is
     * @param wanted up to where more will be asked for soon
     * @param at where the part's header is, from the start of the record
     * @param page the page that the part is of
     * @return false if it is to be had from a file only, which must not be read
     */
    boolean handOut(long start, int length, long wanted, int at, int page, RedoTarget target) {
      @Nullable UnwrittenLog unwritten = catalog.unwritten();
      if (unwritten != null && unwritten.isFrom(start)) {
        take(unwritten, start, length);
      } else if (!isThere(start, length)) {
        if (!fromFiles) {
          return false;
        }
        if (start < from || start + length > to) {
          read(start, Math.max(length, wanted - start <= WINDOW ? inSegment(start) : 0));
        }
        if (start + length > to || !isSame((int) (start - from), start, length)) {
          throw changed(start);
        }
      }
      int record = (int) (start - from);
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
      return true;
    }

    /** Copies a record that was in the ring only. Analysis has it in memory, as it has read it. */
    private void take(UnwrittenLog unwritten, long start, int length) {
      if (bytes.length < length) {
        bytes = new byte[length];
      }
      from = start;
      to = start + unwritten.copy(start, bytes, /* at= */ 0, length);
      if (to < start + length || !isSame(0, start, length)) {
        throw changed(start);
      }
    }

    /** Has a record copied from the mapped log, if it is there as analysis has read it. */
    private boolean isThere(long start, int length) {
      MappedLog memory = mapped;
      if (!memory.isReadable() || !memory.holds(start) || !memory.holds(start + length - 1)) {
        return false;
      }
      if (bytes.length < length) {
        bytes = new byte[length];
      }
      from = start;
      to = start; // what the window had is overwritten
      try {
        if (memory.copy(start, length, bytes)) {
          if (isSame(0, start, length)) {
            to = start + length;
            return true;
          }
          MappingFault.await();
        }
      } catch (InternalError fault) {
        // Its file says what is wrong.
      }
      memory.giveUp();
      return false;
    }

    /** A window ends where its segment does: there need be no other behind it. */
    private int inSegment(long start) {
      @Nullable SegmentPlace place = catalog.at(start);
      return place == null ? 0 : (int) Math.min(WINDOW, place.end() - start);
    }

    /** Reads all bytes up to the end. */
    private void read(long start, int wanted) {
      if (bytes.length < wanted) {
        bytes = new byte[wanted];
      }
      from = start;
      to = start;
      while (to < start + wanted) {
        @Nullable SegmentPlace place = catalog.at(to);
        if (place == null) {
          return;
        }
        int here = (int) Math.min(start + wanted - to, place.end() - to);
        int read =
            segment(place.begin())
                .readUpTo(place.offset(to), MemorySegment.ofArray(bytes).asSlice(to - start, here));
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

  private DamagedFileException changed(long start) {
    return LogDamage.record(catalog, start, "it is not what it was when the database was opened");
  }

  private StorageFile segment(long begin) {
    @Nullable StorageFile file = open.get(begin);
    return file != null ? file : open(begin);
  }

  private synchronized StorageFile open(long begin) {
    if (closed) {
      throw new IllegalStateException("the log is not read any more");
    }
    return open.computeIfAbsent(begin, one -> catalog.directory().open(one, OpenMode.READ));
  }

  @Override
  public synchronized void close() {
    closed = true;
    catalog.unwritten(null);
    mapped.close();
    mapped = MappedLog.nothing();
    open.values().forEach(StorageFile::close);
    open.clear();
  }
}
