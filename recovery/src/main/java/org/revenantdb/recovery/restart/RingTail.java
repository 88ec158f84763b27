package org.revenantdb.recovery.restart;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.RingLayout;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.RingFile;
import org.revenantdb.recovery.log.RingHeader;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.UnwrittenLog;

/**
 * The file that held the ring of a former life: what it has behind the end of the segments. It is
 * only read.
 *
 * <p>Threads: one. Failure: a {@link org.revenantdb.recovery.file.DamagedFileException} if it is
 * not what a life has left.
 */
final class RingTail {
  /*
   * Protocol    docs/protocols.md §46: "What a restart takes". A record is taken if length, LSN, life and CRC are right.
   *             All of them are final before the copy into the ring begins. So a good record at its own position is
   *             one that was reserved there and is whole, whatever else is torn, stale or missing.
   */

  /** What is read at once; most restarts take less. */
  private static final int CHUNK = 1 << 16;

  private final Path file;
  private final RingHeader header;
  private final IoStatistics statistics;

  private RingTail(Path file, RingHeader header, IoStatistics statistics) {
    this.file = file;
    this.header = header;
    this.statistics = statistics;
  }

  /**
   * Compares the file with the segments.
   *
   * @return null if there is none
   */
  static @Nullable RingTail open(SegmentCatalog catalog) {
    Path file = RingFile.beside(catalog.directory().path());
    long size = FileKinds.size(file);
    if (size < 0) {
      return null;
    }
    IoStatistics statistics = catalog.directory().statistics();
    byte[] sector = new byte[RingLayout.CHECKED];
    RingHeader header;
    try (StorageFile open =
        StorageFile.open(file, OpenMode.READ, /* ownerOnly= */ true, statistics)) {
      open.readUpTo(0, MemorySegment.ofArray(sector)); // what is missing is zeros
      header = RingHeader.read(sector, file, size, catalog.directory().databaseId());
    }
    refuseOtherMoment(file, header, catalog);
    return new RingTail(file, header, statistics);
  }

  /** The first segment of a life is durable before the life has a ring. */
  private static void refuseOtherMoment(Path file, RingHeader header, SegmentCatalog catalog) {
    @Nullable SegmentHeader youngest = catalog.youngest();
    int highest = youngest == null ? 0 : youngest.life();
    if (header.life() > highest) {
      throw RingHeader.refused(
          file,
          RingLayout.LIFE,
          "the files are not of one moment: the ring is of life "
              + header.life()
              + ", but the log ends in life "
              + highest);
    }
    long first = catalog.firstLsnOf(header.life());
    if (first != 0 && first != header.firstLsn()) {
      throw RingHeader.refused(
          file,
          RingLayout.FIRST_LSN,
          "the files are not of one moment: life "
              + header.life()
              + " of the ring begins at position "
              + header.firstLsn()
              + ", that of the log at "
              + first);
    }
  }

  /**
   * What it has from a position on: whole records, one after the other.
   *
   * @param from where the segments of a life end
   * @param life the life
   * @return null if there is no record
   */
  @Nullable UnwrittenLog behind(long from, int life) {
    if (life != header.life()) {
      return null;
    }
    try (StorageFile open =
        StorageFile.open(file, OpenMode.READ, /* ownerOnly= */ true, statistics)) {
      byte[] records = new Walk(open, from).records();
      return records.length == 0 ? null : new UnwrittenLog(from, records);
    }
  }

  /** Reads the ring from a position on, as far as it is wanted. */
  private final class Walk {
    private final StorageFile open;
    private final long from;
    private final CRC32C crc = new CRC32C();
    private byte[] bytes = new byte[0];
    private int loaded;

    Walk(StorageFile open, long from) {
      this.open = open;
      this.from = from;
    }

    byte[] records() {
      int at = 0;
      while (isGoodAt(at)) {
        at += LittleEndian.getInt(bytes, at + LogRecordLayout.LENGTH);
      }
      return Arrays.copyOf(bytes, at);
    }

    private boolean isGoodAt(int at) {
      if (!load(at + LogRecordLayout.HEADER)) {
        return false;
      }
      int length = LittleEndian.getInt(bytes, at + LogRecordLayout.LENGTH);
      if (!LogRecordLayout.isSane(length)
          || length > header.capacity() / LogOptions.RECORDS_IN_RING
          || LittleEndian.getLong(bytes, at + LogRecordLayout.LSN) != from + at + length
          || LittleEndian.getInt(bytes, at + LogRecordLayout.LIFE) != header.life()
          || !load(at + length)) {
        return false;
      }
      crc.reset();
      crc.update(bytes, at + LogRecordLayout.LSN, length - LogRecordLayout.LSN);
      return (int) crc.getValue() == LittleEndian.getInt(bytes, at + LogRecordLayout.CRC);
    }

    /** False if the ring has not so many. */
    private boolean load(int end) {
      if (end > header.capacity()) {
        return false;
      }
      while (loaded < end) {
        int wanted = Math.min(CHUNK, header.capacity() - loaded);
        if (loaded + wanted > bytes.length) {
          bytes = Arrays.copyOf(bytes, Math.max(loaded + wanted, 2 * bytes.length));
        }
        long place = RingLayout.offset(from + loaded, header.capacity());
        int piece = (int) Math.min(wanted, RingLayout.fileSize(header.capacity()) - place);
        open.readUpTo(place, MemorySegment.ofArray(bytes).asSlice(loaded, piece)); // else zeros
        loaded += piece;
      }
      return true;
    }
  }
}
