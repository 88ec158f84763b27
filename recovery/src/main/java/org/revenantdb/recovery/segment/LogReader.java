package org.revenantdb.recovery.segment;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.LogRecordLayout;

/**
 * Reads the records of the log in order, across segments, through a large buffer.
 *
 * <p>It decides whether a record is valid. What an invalid record means is decided by the caller.
 *
 * <p>Threads: one.
 */
public final class LogReader implements AutoCloseable {
  /** Finds the segments that may be read. */
  @FunctionalInterface
  public interface Segments {
    /**
     * Returns the segment that holds a position.
     *
     * @param lsn the position
     * @return the segment; null if no readable segment holds the position
     */
    @Nullable SegmentPlace at(long lsn);
  }

  /*
   * The buffer holds positions [bufferStart, bufferEnd) of the log. A position is present if its segment is readable and
   * its file is long enough. A segment is readable if it exists and, for a walk, its header belongs to the life that is
   * read. At any other position the log ends, so the record there is invalid.
   *
   * The bytes are held twice: as an array, for checksums and copies, and as numbers of eight bytes, for fields. Each
   * record begins at a multiple of eight, and so does the buffer. A restart reads millions of fields in a JVM that has
   * compiled nothing yet, or only with counters in the code. There, an access to a number in an array costs a
   * thirtieth of one through a VarHandle.
   */

  private static final ValueLayout.OfLong IN_LOG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int SMALLEST_READ = 1 << 16;
  private static final int LARGEST_READ = 1 << 18;

  /** The offset while there is no current record: each index that is made of it is negative. */
  private static final int NO_RECORD = Integer.MIN_VALUE;

  private final SegmentDirectory directory;
  private final Segments segments;
  private final CRC32C crc = new CRC32C();
  private byte[] buffer = new byte[2 * LogRecordLayout.MAX_LENGTH];

  /** The same bytes, the first one in the lowest bits. */
  private long[] words = wordsOf(buffer);

  private long bufferStart;
  private long bufferEnd;
  private int nextRead = SMALLEST_READ;
  private long position;
  private int length;

  /** Where the record at the position begins in the buffer. */
  private int offset = NO_RECORD;

  private @Nullable UnwrittenLog unwritten;
  private @Nullable StorageFile file;
  private @Nullable SegmentPlace place;

  /**
   * Creates a reader without a position.
   *
   * @param directory the log
   * @param segments finds the segments that may be read
   */
  public LogReader(SegmentDirectory directory, Segments segments) {
    this.directory = directory;
    this.segments = segments;
  }

  /**
   * Appends log that is in no segment yet; the log then ends where that ends.
   *
   * @param newUnwritten what is read in place of the segments, from its start on; null for nothing
   * @return this reader
   */
  public LogReader with(@Nullable UnwrittenLog newUnwritten) {
    unwritten = newUnwritten;
    return this;
  }

  /**
   * Moves to a position, at which the next record is expected.
   *
   * @param lsn the position
   */
  public void seek(long lsn) {
    if (lsn < bufferStart || lsn > bufferEnd) {
      bufferStart = lsn;
      bufferEnd = lsn;
    }
    position = lsn;
    length = 0;
    offset = NO_RECORD;
  }

  /**
   * Moves to the next record, if it is valid.
   *
   * @return false if the next record is invalid; the reader then keeps its position, but the fields
   *     of the current record may be gone
   */
  public boolean next() {
    long start = position + length;
    if (isGoodAt(start)) {
      position = start;
      offset = index(start);
      length = lengthAt(start);
      return true;
    }
    return false;
  }

  /**
   * Returns whether a valid record starts at a position near the last requested one.
   *
   * @param start the position
   * @return true if length, LSN and checksum are right
   */
  public boolean isGoodAt(long start) {
    if (!claimsToBeRecord(start)) {
      return false;
    }
    int bytes = lengthAt(start);
    if (!load(start, bytes)) {
      return false;
    }
    int at = index(start);
    crc.reset();
    crc.update(buffer, at + LogRecordLayout.LSN, bytes - LogRecordLayout.LSN);
    return (int) crc.getValue() == intAt(at + LogRecordLayout.CRC);
  }

  /**
   * Returns whether length and LSN at a position are those of a record that starts there.
   *
   * @param start the position
   * @return true if they agree with each other and with the position
   */
  public boolean claimsToBeRecord(long start) {
    if (!load(start, LogRecordLayout.HEADER)) {
      return false;
    }
    int bytes = lengthAt(start);
    return LogRecordLayout.isSane(bytes)
        && longAt(index(start) + LogRecordLayout.LSN) == start + bytes;
  }

  /**
   * Returns the next position at which a record may start, because a possible length is stored
   * there. Most bytes behind the end of a log are zeros; this skips them quickly.
   *
   * @param from a position, a multiple of the alignment, whose bytes are loaded
   * @return that position, or a later one up to the end of what is loaded
   */
  public long nextCandidate(long from) {
    long at = from;
    while (at + Integer.BYTES <= bufferEnd) {
      int bytes = lengthAt(at);
      if (LogRecordLayout.isSane(bytes)) {
        return at;
      }
      at +=
          bytes == 0 ? Math.max(LogRecordLayout.ALIGNMENT, zerosAt(at)) : LogRecordLayout.ALIGNMENT;
    }
    return at;
  }

  /** Counts the zeros that follow, in units of the alignment, as far as bytes are loaded. */
  private int zerosAt(long start) {
    int from = index(start) / Long.BYTES;
    int end = index(bufferEnd) / Long.BYTES;
    int at = from;
    while (at < end && words[at] == 0) {
      at++;
    }
    return (at - from) * Long.BYTES;
  }

  /**
   * Returns the length that is stored at a position that was requested before.
   *
   * @param start the position
   * @return the field, valid or not
   */
  public int lengthAt(long start) {
    return intAt(index(start) + LogRecordLayout.LENGTH);
  }

  /**
   * Loads the bytes from a position into the buffer. If that moves or discards bytes, there is no
   * current record any more: to read a field of it is an {@link IndexOutOfBoundsException}.
   *
   * @param start the position
   * @param bytes the number of bytes
   * @return false if the log has fewer bytes there
   */
  public boolean load(long start, int bytes) {
    if (start < bufferStart || start > bufferEnd) {
      bufferStart = start;
      bufferEnd = start;
      offset = NO_RECORD;
    }
    while (start + bytes > bufferEnd) {
      if (!fill(start)) {
        return false;
      }
    }
    return true;
  }

  private boolean fill(long keepFrom) {
    makeRoom(keepFrom);
    @Nullable UnwrittenLog rest = unwritten;
    if (rest != null && rest.isFrom(bufferEnd)) {
      return added(rest.copy(bufferEnd, buffer, index(bufferEnd), nextRead));
    }
    @Nullable SegmentPlace from = open(bufferEnd);
    if (from == null || file == null) {
      return false;
    }
    int wanted = (int) Math.min(nextRead, from.end() - bufferEnd);
    if (rest != null) {
      wanted = rest.inSegments(bufferEnd, wanted);
    }
    int at = index(bufferEnd);
    int read =
        file.readUpTo(from.offset(bufferEnd), MemorySegment.ofArray(buffer).asSlice(at, wanted));
    nextRead = Math.min(LARGEST_READ, nextRead * 2);
    return added(read);
  }

  /**
   * Bytes have come behind the end of the buffer. The last number may have only some of its own.
   */
  private boolean added(int bytes) {
    int from = index(bufferEnd) / Long.BYTES;
    bufferEnd += bytes;
    int count = (index(bufferEnd) + Long.BYTES - 1) / Long.BYTES - from;
    MemorySegment.copy(
        MemorySegment.ofArray(buffer), IN_LOG, (long) from * Long.BYTES, words, from, count);
    return bytes > 0;
  }

  /** Discards the bytes before a position, so that the next read fits behind the rest. */
  private void makeRoom(long keepFrom) {
    int kept = (int) (bufferEnd - keepFrom);
    if (index(bufferEnd) + nextRead > buffer.length) {
      boolean isSmall = kept + nextRead > buffer.length;
      byte[] target = isSmall ? new byte[LARGEST_READ + LogRecordLayout.MAX_LENGTH] : buffer;
      long[] numbers = isSmall ? wordsOf(target) : words;
      int from = index(keepFrom);
      System.arraycopy(buffer, from, target, 0, kept);
      System.arraycopy(words, from / Long.BYTES, numbers, 0, (kept + Long.BYTES - 1) / Long.BYTES);
      buffer = target;
      words = numbers;
      bufferStart = keepFrom;
      offset = NO_RECORD;
    }
  }

  /**
   * One more than the bytes fill: a field of two bytes is read as four, and the last one of a
   * record that ends with the buffer may begin two bytes before the end.
   */
  private static long[] wordsOf(byte[] bytes) {
    return new long[bytes.length / Long.BYTES + 1];
  }

  /** Opens the segment that holds a position; null if there is none. */
  private @Nullable SegmentPlace open(long lsn) {
    @Nullable SegmentPlace there = place;
    if (there != null && there.holds(lsn)) {
      return there;
    }
    closeFile();
    there = segments.at(lsn);
    if (there == null || !Directories.exists(directory.file(there.begin()))) {
      return null;
    }
    file = directory.open(there.begin(), OpenMode.READ);
    place = there;
    return there;
  }

  private int index(long lsn) {
    return (int) (lsn - bufferStart);
  }

  /**
   * Returns where the current record starts.
   *
   * @return the position of its first byte
   */
  public long start() {
    return position;
  }

  /**
   * Returns the LSN of the current record; before the first one, the requested position.
   *
   * @return the position after its last byte
   */
  public long lsn() {
    return position + length;
  }

  /**
   * Returns the array with the bytes of the current record.
   *
   * @return the array, valid until the next call
   */
  public byte[] array() {
    return buffer;
  }

  /**
   * Returns where the current record starts in that array.
   *
   * @return the index of its first byte
   */
  public int offset() {
    return offset;
  }

  /**
   * Returns the length of the current record.
   *
   * @return bytes, padding included
   */
  public int length() {
    return length;
  }

  /**
   * Returns the length of the current record without its padding.
   *
   * @return bytes
   */
  public int contentLength() {
    return length - buffer[offset + LogRecordLayout.PADDING];
  }

  /**
   * Returns the type of the current record.
   *
   * @return its code
   */
  public int type() {
    return buffer[offset + LogRecordLayout.TYPE];
  }

  /**
   * Returns the transaction of the current record.
   *
   * @return its id, 0 = the system
   */
  public long transactionId() {
    return longAt(offset + LogRecordLayout.TRANSACTION);
  }

  /**
   * Returns the durable LSN that the current record contains.
   *
   * @return the position
   */
  public long durable() {
    return longAt(offset + LogRecordLayout.DURABLE);
  }

  /**
   * The current record's life.
   *
   * @return the number
   */
  public int life() {
    return getInt(LogRecordLayout.LIFE);
  }

  /**
   * How far the current record knows that the log has segments.
   *
   * @return a position; what lies below it, from the record on, is in segments
   */
  public long segmentsUpTo() {
    return position + (long) getShort(LogRecordLayout.AHEAD) * LogRecordLayout.AHEAD_UNIT;
  }

  /**
   * Two bytes of the current record.
   *
   * @param at offset in the record
   * @return the number, unsigned
   */
  public int getShort(int at) {
    return intAt(offset + at) & 0xffff;
  }

  /**
   * Four bytes of the current record.
   *
   * @param at offset in the record
   * @return the number
   */
  public int getInt(int at) {
    return intAt(offset + at);
  }

  /**
   * Eight bytes of the current record.
   *
   * @param at offset in the record
   * @return the number
   */
  public long getLong(int at) {
    return longAt(offset + at);
  }

  /** Four bytes of the buffer from any index on. */
  private int intAt(int index) {
    int word = index / Long.BYTES;
    int shift = index % Long.BYTES * Byte.SIZE;
    long low = words[word] >>> shift;
    return shift <= Integer.SIZE ? (int) low : (int) (low | words[word + 1] << -shift);
  }

  /** Eight bytes of the buffer from any index on. */
  private long longAt(int index) {
    int word = index / Long.BYTES;
    int shift = index % Long.BYTES * Byte.SIZE;
    return shift == 0 ? words[word] : words[word] >>> shift | words[word + 1] << -shift;
  }

  private void closeFile() {
    if (file != null) {
      file.close();
      file = null;
    }
    place = null;
  }

  @Override
  public void close() {
    closeFile();
  }
}
