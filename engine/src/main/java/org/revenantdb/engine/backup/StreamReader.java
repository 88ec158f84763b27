package org.revenantdb.engine.backup;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.LogPiece;
import org.revenantdb.recovery.log.SegmentInfo;

/**
 * Reads a backup or an increment in a stream, and checks all of it.
 *
 * <p>Threads: that which calls {@link #read}. Failure: an exception with the place; what was handed
 * over until then must be thrown away.
 */
final class StreamReader {
  /*
   * Protocol    docs/protocols.md §55, §56
   *
   * Trust       no number of the stream is used before the checksum of its entry was compared, but the size of an
   *             entry, which has a limit. Names of the stream are compared, and never used. Pages and log of a whole
   *             backup follow each other without gaps, so that no more is written than the stream has, but the rest of
   *             one segment. Pages of an increment ascend; whoever knows its base demands that those behind it have
   *             no gap.
   */

  /** Receives what was read and checked. */
  interface Receiver {
    /** The first entry. Throws if the backup is not wanted. */
    void begin(BackupOutput.Start start);

    /** Pages of a whole backup, with successive numbers. */
    void pages(int first, int count, MemorySegment pages);

    /** Pages of an increment, with ascending numbers; each is good, or zeros. */
    void changed(int[] ids, MemorySegment pages);

    /** Log, without gaps. */
    void log(LogPiece piece);

    /** All of it was read; nothing that was handed over counts before that. */
    void end(ControlState state, long logBytes);
  }

  static final String CURE = "use another copy of the stream, or make another backup";

  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[Page.SIZE]);

  private final InputStream from;

  /** The file that is read, or the directory that is to be made. */
  private final Path file;

  /** Whether the stream is that file. */
  private final boolean isFile;

  private final Receiver to;

  private final byte[] header = new byte[StreamLayout.BLOCK];
  private final byte[] expected = new byte[StreamLayout.BLOCK];
  private final byte[] content = new byte[StreamLayout.padded(StreamLayout.MAX_CONTENT)];
  private final ByteBuffer fields = StreamLayout.littleEndian(content);
  private final CRC32C crcs = new CRC32C();

  /** Where the entry begins that is read. */
  private long entryAt;

  private long position;
  private long number;
  private int size;
  private int nextPage = SpaceMapPage.POSITION;
  private int lastChanged = SpaceMapPage.POSITION - 1;
  private long highestLsn;
  private long nextLog;
  private long logBytes;
  private @Nullable SegmentInfo lastSegment;
  private BackupOutput.@Nullable Start start;

  /** Reads a file. */
  static StreamReader ofFile(InputStream from, Path file, Receiver to) {
    return new StreamReader(from, file, /* isFile= */ true, to);
  }

  /** Reads a stream of the caller, of which a directory is to be made. */
  static StreamReader ofStream(InputStream from, Path directory, Receiver to) {
    return new StreamReader(from, directory, /* isFile= */ false, to);
  }

  private StreamReader(InputStream from, Path file, boolean isFile, Receiver to) {
    this.from = from;
    this.file = file;
    this.isFile = isFile;
    this.to = to;
  }

  /** Reads all of it. */
  void read() {
    BackupOutput.Start known = readManifest();
    to.begin(known);
    boolean isWhole = known.base() == null;
    while (true) {
      readEntry();
      int kind = fields.getInt(StreamLayout.KIND);
      if (kind == StreamLayout.END) {
        end(known);
        return;
      }
      if (kind == StreamLayout.LOG) {
        log(known);
      } else if (kind == StreamLayout.PAGES && isWhole) {
        pages();
      } else if (kind == StreamLayout.CHANGED && !isWhole) {
        changed();
      } else {
        throw bad("its entry is not one that can follow the one before");
      }
      countCrc();
    }
  }

  /** Reads the first entry only. */
  BackupOutput.Start readManifest() {
    readEntry();
    return manifest();
  }

  private void countCrc() {
    crcs.update(content, StreamLayout.CRC, Integer.BYTES);
  }

  /** Reads an entry, and checks all that can be checked without the ones before. */
  private void readEntry() {
    entryAt = position;
    fill(header, StreamLayout.BLOCK);
    if (number == 0) {
      refuseOtherFormats();
    }
    if (isZero(header, 0, StreamLayout.BLOCK)) {
      throw bad("it ends without its last entry");
    }
    size = StreamLayout.size(header);
    if (size < 0) {
      throw bad("its entry has a size that no entry of a backup has");
    }
    int padded = StreamLayout.padded(size);
    fill(content, padded);
    if (fields.getInt(StreamLayout.CRC) != StreamLayout.crc(content, 0, size)
        || !isZero(content, size, padded)) {
      throw bad("the checksum of its entry is wrong");
    }
    if (fields.getLong(StreamLayout.NUMBER) != number) {
      throw bad(
          "it has entry "
              + Long.toUnsignedString(fields.getLong(StreamLayout.NUMBER))
              + " where entry "
              + number
              + " belongs");
    }
    BackupOutput.Start known = start;
    if (known != null
        && !Arrays.equals(
            content, StreamLayout.ID, StreamLayout.BODY, known.id(), 0, StreamLayout.ID_SIZE)) {
      throw bad("its entry belongs to another backup");
    }
    checkLength();
    StreamLayout.putHeader(expected, 0, StreamLayout.name(fields, 0), size);
    if (!Arrays.equals(header, expected)) {
      throw bad("the header of its entry does not fit the contents");
    }
    number++;
  }

  /** Whether an entry is as long as its kind and its counts say. */
  private void checkLength() {
    long wanted =
        switch (fields.getInt(StreamLayout.KIND)) {
          case StreamLayout.MANIFEST -> StreamLayout.MANIFEST_SIZE;
          case StreamLayout.PAGES ->
              size < StreamLayout.PAGE_BYTES
                  ? -1
                  : StreamLayout.PAGE_BYTES
                      + (long) fields.getInt(StreamLayout.PAGE_COUNT) * Page.SIZE;
          case StreamLayout.CHANGED ->
              size < StreamLayout.CHANGED_IDS
                  ? -1
                  : StreamLayout.CHANGED_IDS
                      + (long) fields.getInt(StreamLayout.CHANGED_COUNT)
                          * (Integer.BYTES + Page.SIZE);
          case StreamLayout.LOG ->
              size < StreamLayout.SEGMENTS
                  ? -1
                  : StreamLayout.SEGMENTS
                      + (long) fields.getInt(StreamLayout.SEGMENT_COUNT)
                          * StreamLayout.SEGMENT_BYTES
                      + fields.getInt(StreamLayout.LOG_LENGTH);
          case StreamLayout.END -> StreamLayout.END_SIZE;
          default -> -1;
        };
    if (size != wanted || wanted == StreamLayout.CHANGED_IDS) {
      throw bad("its entry has another length than its kind");
    }
  }

  private void refuseOtherFormats() {
    if ((header[0] & 0xff) == 0x1f && (header[1] & 0xff) == 0x8b) {
      throw bad("it is compressed", "decompress it on its way, for example with gunzip");
    }
    if (isZero(header, 0, StreamLayout.BLOCK) || StreamLayout.size(header) < 0) {
      throw bad("it is not a backup of RevenantDB", "check which file or command it comes from");
    }
  }

  private BackupOutput.Start manifest() {
    if (fields.getInt(StreamLayout.KIND) != StreamLayout.MANIFEST
        || fields.getLong(StreamLayout.MAGIC) != StreamLayout.MAGIC_VALUE) {
      throw bad("it does not begin as a backup of RevenantDB does");
    }
    if (fields.getInt(StreamLayout.VERSION) != StreamLayout.CURRENT_VERSION
        || fields.getInt(StreamLayout.PAGE_SIZE) != Page.SIZE) {
      throw new StorageException(
          StorageException.Reason.FORMAT_VERSION,
          file,
          StorageException.NO_OFFSET,
          "the stream of the backup has format version "
              + fields.getInt(StreamLayout.VERSION)
              + " with pages of "
              + fields.getInt(StreamLayout.PAGE_SIZE)
              + " bytes, and this library reads version "
              + StreamLayout.CURRENT_VERSION
              + " with pages of "
              + Page.SIZE,
          "unpack it with the version of the library that wrote it",
          /* cause= */ null);
    }
    byte[] id = Arrays.copyOfRange(content, StreamLayout.ID, StreamLayout.BODY);
    BackupOutput.Start known =
        new BackupOutput.Start(
            id,
            fields.getInt(StreamLayout.SEGMENT_SIZE),
            fields.getLong(StreamLayout.CREATED),
            fields.getLong(StreamLayout.REDO_POINT),
            fields.getInt(StreamLayout.LIFE),
            base());
    if (!SegmentLayout.isSize(known.segmentSize())
        || known.createdMillis() < 0
        || !SegmentLayout.isLsn(known.redoPoint())
        || known.life() < 1) {
      throw bad("a number in its first entry is out of range");
    }
    start = known;
    nextLog = known.redoPoint();
    countCrc();
    return known;
  }

  private BackupOutput.@Nullable Base base() {
    if (isZero(content, StreamLayout.BASE_ID, StreamLayout.MANIFEST_SIZE)) {
      return null;
    }
    long position = fields.getLong(StreamLayout.BASE_POSITION);
    if (!SegmentLayout.isLsn(position)
        || isZero(content, StreamLayout.BASE_ID, StreamLayout.BASE_POSITION)) {
      throw bad("a number in its first entry is out of range");
    }
    return new BackupOutput.Base(
        Arrays.copyOfRange(content, StreamLayout.BASE_ID, StreamLayout.BASE_POSITION), position);
  }

  /**
   * The exception for a backup that is not wanted, after its first entry was read.
   *
   * @param why a clause
   * @param cure a clause
   */
  StorageException bad(StorageException.Reason reason, String why, String cure) {
    return new StorageException(
        reason,
        file,
        isFile ? entryAt : StorageException.NO_OFFSET,
        isFile
            ? "this backup cannot be used: " + why
            : "the stream cannot be unpacked to here: at its byte " + entryAt + ", " + why,
        cure,
        /* cause= */ null);
  }

  private void pages() {
    int first = fields.getInt(StreamLayout.FIRST_PAGE);
    int count = fields.getInt(StreamLayout.PAGE_COUNT);
    if (first != nextPage || count < 1 || first > Integer.MAX_VALUE - count) {
      throw bad("its pages begin at " + first + " with " + count + ", not at page " + nextPage);
    }
    MemorySegment pages =
        MemorySegment.ofArray(content).asSlice(StreamLayout.PAGE_BYTES, (long) count * Page.SIZE);
    for (int i = 0; i < count; i++) {
      judge(first + i, pages.asSlice((long) i * Page.SIZE, Page.SIZE));
    }
    to.pages(first, count, pages);
    nextPage += count;
  }

  private void changed() {
    int count = fields.getInt(StreamLayout.CHANGED_COUNT);
    int[] ids = new int[count];
    long at = StreamLayout.CHANGED_IDS + (long) count * Integer.BYTES;
    MemorySegment pages = MemorySegment.ofArray(content).asSlice(at, (long) count * Page.SIZE);
    if (fields.getInt(StreamLayout.CHANGED_RESERVED) != 0) {
      throw bad("a number in its entry is out of range");
    }
    for (int i = 0; i < count; i++) {
      int id = fields.getInt(StreamLayout.CHANGED_IDS + i * Integer.BYTES);
      if (id <= lastChanged || id >= FileHeaderLayout.MOST_PAGES) {
        throw bad("its page " + Integer.toUnsignedString(id) + " follows page " + lastChanged);
      }
      judge(id, pages.asSlice((long) i * Page.SIZE, Page.SIZE));
      ids[i] = id;
      lastChanged = id;
    }
    to.changed(ids, pages);
  }

  private void judge(int pageId, MemorySegment page) {
    if (PageChecksum.isGood(page, pageId)) {
      highestLsn = Math.max(highestLsn, Page.lsn(page));
    } else if (page.mismatch(ZEROS) >= 0) {
      throw bad("its page " + pageId + " is damaged");
    }
  }

  private void log(BackupOutput.Start known) {
    long first = fields.getLong(StreamLayout.LOG_FROM);
    int length = fields.getInt(StreamLayout.LOG_LENGTH);
    int count = fields.getInt(StreamLayout.SEGMENT_COUNT);
    if (first != nextLog || length < 1 || count < 1 || !SegmentLayout.isLsn(first + length)) {
      throw bad("its log begins at position " + first + ", not at " + nextLog);
    }
    List<SegmentInfo> segments = segments(known, count);
    if (!isNext(segments.getFirst(), first)
        || first + length > segments.getLast().end()
        || first + length <= segments.getLast().begin()) {
      throw bad("its log does not lie in the segments that it names");
    }
    lastSegment = segments.getLast();
    int at = StreamLayout.SEGMENTS + count * StreamLayout.SEGMENT_BYTES;
    LogPiece piece =
        new LogPiece(
            first,
            first + length,
            known.life(),
            segments,
            Arrays.copyOfRange(content, at, at + length));
    to.log(piece);
    nextLog = piece.to();
    logBytes += length;
  }

  /**
   * Whether a segment has a position, and is the last one so far or follows it. Otherwise each
   * entry could name a segment of its own, and a small stream would fill the disk.
   */
  private boolean isNext(SegmentInfo segment, long lsn) {
    SegmentInfo last = lastSegment;
    boolean follows =
        last == null
            || segment.begin() == last.end()
            || (segment.begin() == last.begin() && segment.size() == last.size());
    return follows && lsn >= segment.begin() && lsn < segment.end();
  }

  private List<SegmentInfo> segments(BackupOutput.Start known, int count) {
    List<SegmentInfo> segments = new ArrayList<>();
    fields.position(StreamLayout.SEGMENTS);
    for (int i = 0; i < count; i++) {
      SegmentInfo segment =
          new SegmentInfo(
              fields.getLong(),
              fields.getInt(),
              fields.getInt(),
              fields.getLong(),
              fields.getLong(),
              fields.getLong(),
              fields.getInt());
      if (!segment.isLegal(known.segmentSize())
          || segment.life() != known.life()
          || (i > 0 && segment.begin() != segments.getLast().end())) {
        throw bad("a segment of its log is one that no database has");
      }
      segments.add(segment);
    }
    return segments;
  }

  private void end(BackupOutput.Start known) {
    long pages = fields.getLong(StreamLayout.END_PAGES);
    long endOfLog = fields.getLong(StreamLayout.END_OF_LOG);
    ControlState state =
        ControlState.notClosed(
            fields.getLong(StreamLayout.END_ANALYSIS),
            known.redoPoint(),
            fields.getLong(StreamLayout.END_CHECKPOINT),
            endOfLog,
            known.life(),
            pages);
    if (fields.getInt(StreamLayout.END_CRCS) != (int) crcs.getValue()
        || fields.getInt(StreamLayout.END_RESERVED) != 0
        || (known.base() == null && pages > nextPage)
        || endOfLog != nextLog
        || highestLsn > endOfLog
        || fields.getLong(StreamLayout.END_LOG_BYTES) != logBytes
        || state.checkpointLsn() == 0
        || !state.isPossible()) {
      throw bad("its last entry does not fit the ones before");
    }
    for (int i = 0; i < StreamLayout.ZERO_BLOCKS; i++) {
      entryAt = position;
      fill(header, StreamLayout.BLOCK);
      if (!isZero(header, 0, StreamLayout.BLOCK)) {
        throw bad("it goes on behind its last entry");
      }
    }
    to.end(state, logBytes);
  }

  private static boolean isZero(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] != 0) {
        return false;
      }
    }
    return true;
  }

  private void fill(byte[] to, int length) {
    int done;
    try {
      done = from.readNBytes(to, 0, length);
    } catch (FileException ofFile) {
      throw ofFile;
    } catch (IOException | RuntimeException ofStream) {
      throw new StorageException(
          StorageException.Reason.IO,
          file,
          StorageException.NO_OFFSET,
          "the stream of the backup cannot be read at its byte " + position + ": " + ofStream,
          "remove the cause, and begin again with the whole stream",
          ofStream);
    }
    position += done;
    if (done < length) {
      throw done == 0 && position == 0
          ? bad("it is empty", "check which file or command it comes from")
          : bad("it ends within an entry, at byte " + position);
    }
  }

  private StorageException bad(String why) {
    return bad(why, CURE);
  }

  private StorageException bad(String why, String cure) {
    return bad(StorageException.Reason.BACKUP_STREAM, why, cure);
  }
}
