package org.revenantdb.engine.backup;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.LogPiece;
import org.revenantdb.recovery.log.RebuiltLog;
import org.revenantdb.recovery.log.SegmentInfo;

/**
 * Makes a database of a backup in a stream.
 *
 * <p>Threads: the caller's reads the stream; one of the engine writes the files. Failure: what was
 * made of the target is deleted.
 */
public final class BackupUnpack {
  /*
   * Protocol    docs/protocols.md §55, with the crash table.
   *
   * State       nothing      no entry was read: the target is as it was        manifest: it is marked
   *             copying      entries 0 to `number` were read and written       end and zeros: forced, renamed
   *
   * Trust       no number of the stream is used before the checksum of its entry was compared, but the size of an
   *             entry, which has a limit. Names of the stream are compared, and never used. Pages and log follow each
   *             other without gaps, so that no more is written than the stream has, but the rest of one segment.
   */
  private static final String CURE = "use another copy of the stream, or make another backup";

  private final InputStream from;
  private final Path directory;
  private final BackupSource.Names names;
  private final long begun = System.nanoTime();

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
  private long nextLog;
  private long logBytes;
  private @Nullable SegmentInfo lastSegment;
  private BackupOutput.@Nullable Start start;
  private @Nullable BackupTarget made;
  private @Nullable RebuiltLog log;

  /** Reads nothing yet. */
  public BackupUnpack(InputStream from, Path directory, BackupSource.Names names) {
    this.from = from;
    this.directory = directory;
    this.names = names;
  }

  /** Makes the database. */
  public BackupReport run() {
    try {
      return unpack();
    } catch (Throwable failed) {
      try {
        onFileThread(() -> remove(failed));
      } catch (Throwable left) { // the mark is there: nobody opens that
        failed.addSuppressed(left);
      }
      throw failed;
    }
  }

  private void remove(Throwable failed) {
    RebuiltLog open = log;
    if (open != null) {
      try {
        open.close();
      } catch (RuntimeException notClosed) {
        failed.addSuppressed(notClosed);
      }
    }
    BackupTarget target = made;
    if (target != null) {
      target.remove(failed);
    }
  }

  /** The caller may be interrupted, which would close a file for all. */
  private static void onFileThread(Runnable action) {
    FileThread.call(
        "revenant-unpack",
        () -> {
          action.run();
          return true;
        });
  }

  private BackupReport unpack() {
    readEntry();
    BackupOutput.Start known = manifest();
    onFileThread(() -> makeTarget(known));
    while (true) {
      readEntry();
      switch (fields.getInt(StreamLayout.KIND)) {
        case StreamLayout.PAGES -> pages();
        case StreamLayout.LOG -> log(known);
        case StreamLayout.END -> {
          return end(known);
        }
        default -> throw bad("its entry is not one that can follow the one before");
      }
      countCrc();
    }
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
    if (size != wanted) {
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
          directory,
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
    if (!isZero(content, StreamLayout.BASE_ID, StreamLayout.MANIFEST_SIZE)) {
      throw bad("it has only the changes since another backup", "use a stream with a whole backup");
    }
    byte[] id = Arrays.copyOfRange(content, StreamLayout.ID, StreamLayout.BODY);
    BackupOutput.Start known =
        new BackupOutput.Start(
            id,
            fields.getInt(StreamLayout.SEGMENT_SIZE),
            fields.getLong(StreamLayout.CREATED),
            fields.getLong(StreamLayout.REDO_POINT),
            fields.getInt(StreamLayout.LIFE));
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

  private void makeTarget(BackupOutput.Start known) {
    BackupTarget target = BackupTarget.make(directory, names);
    made = target;
    target.makeRest(known.id());
    log = target.rebuildLog(known.id(), known.segmentSize());
  }

  private BackupTarget target() {
    return Objects.requireNonNull(made);
  }

  private RebuiltLog rebuilt() {
    return Objects.requireNonNull(log);
  }

  private void pages() {
    int first = fields.getInt(StreamLayout.FIRST_PAGE);
    int count = fields.getInt(StreamLayout.PAGE_COUNT);
    if (first != nextPage || count < 1 || first > Integer.MAX_VALUE - count) {
      throw bad("its pages begin at " + first + " with " + count + ", not at page " + nextPage);
    }
    MemorySegment pages =
        MemorySegment.ofArray(content).asSlice(StreamLayout.PAGE_BYTES, (long) count * Page.SIZE);
    onFileThread(() -> target().data().write((long) first * Page.SIZE, pages));
    nextPage += count;
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
    onFileThread(() -> rebuilt().append(piece, piece.from(), piece.to()));
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

  private BackupReport end(BackupOutput.Start known) {
    long pages = fields.getLong(StreamLayout.END_PAGES);
    long endOfLog = fields.getLong(StreamLayout.END_OF_LOG);
    long analysis = fields.getLong(StreamLayout.END_ANALYSIS);
    long checkpoint = fields.getLong(StreamLayout.END_CHECKPOINT);
    if (fields.getInt(StreamLayout.END_CRCS) != (int) crcs.getValue()
        || fields.getInt(StreamLayout.END_RESERVED) != 0
        || pages <= PageHeaderLayout.FIRST_POOLED_PAGE
        || pages > Math.min(nextPage, FileHeaderLayout.MOST_PAGES)
        || endOfLog != nextLog
        || fields.getLong(StreamLayout.END_LOG_BYTES) != logBytes
        || !SegmentLayout.isLsn(analysis)
        || analysis < known.redoPoint()
        || !SegmentLayout.isLsn(checkpoint)
        || checkpoint < analysis
        || checkpoint >= endOfLog) {
      throw bad("its last entry does not fit the ones before");
    }
    ControlState state =
        ControlState.notClosed(
            analysis, known.redoPoint(), checkpoint, endOfLog, known.life(), pages);
    for (int i = 0; i < StreamLayout.ZERO_BLOCKS; i++) {
      entryAt = position;
      fill(header, StreamLayout.BLOCK);
      if (!isZero(header, 0, StreamLayout.BLOCK)) {
        throw bad("it goes on behind its last entry");
      }
    }
    onFileThread(() -> complete(known, state));
    return new BackupReport(
        directory,
        pages * Page.SIZE + logBytes,
        pages,
        logBytes,
        known.redoPoint(),
        endOfLog,
        System.nanoTime() - begun);
  }

  private void complete(BackupOutput.Start known, ControlState state) {
    rebuilt().finish();
    rebuilt().close();
    target().writeHeader(known.id(), known.segmentSize(), known.createdMillis(), state);
    target().force();
    target().complete();
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
    } catch (IOException | RuntimeException ofStream) {
      throw new StorageException(
          StorageException.Reason.IO,
          directory,
          StorageException.NO_OFFSET,
          "the stream of the backup cannot be read at its byte " + position + ": " + ofStream,
          "remove the cause, and unpack the backup again from its begin",
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
    return new StorageException(
        StorageException.Reason.BACKUP_STREAM,
        directory,
        StorageException.NO_OFFSET,
        "the stream cannot be unpacked to here: at its byte " + entryAt + ", " + why,
        cure,
        /* cause= */ null);
  }
}
