package org.revenantdb.recovery.segment;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * The log directory: finds segments by their first positions, and performs all operations on their
 * files.
 *
 * <p>It keeps no state. Its callers decide which file may be changed: first the restart, later the
 * {@link SegmentSupply} of the running log.
 *
 * @param path the directory
 * @param databaseId the database that every segment must belong to
 * @param segmentSize the full size of segments in bytes; none is larger
 * @param statistics where reads, writes and forces are counted
 * @param ownership is checked before a file is created, written, renamed or deleted
 */
@SuppressWarnings("ArrayRecordComponent") // never compared nor printed
public record SegmentDirectory(
    Path path, byte[] databaseId, int segmentSize, IoStatistics statistics, Ownership ownership) {
  private static final String SUFFIX = ".log";
  private static final String UNFINISHED = ".tmp";
  private static final int DIGITS = 16;

  /** The number of bytes that are written or copied in one step. */
  private static final int CHUNK = 1 << 20;

  /**
   * Creates a directory whose ownership is not checked.
   *
   * @param path the directory
   * @param databaseId the database that every segment must belong to
   * @param segmentSize the full size of segments in bytes; none is larger
   * @param statistics where reads, writes and forces are counted
   */
  public SegmentDirectory(Path path, byte[] databaseId, int segmentSize, IoStatistics statistics) {
    this(path, databaseId, segmentSize, statistics, Ownership.none());
  }

  /**
   * Returns the file of a segment.
   *
   * @param begin its first position
   * @return its path, whether it exists or not
   */
  public Path file(long begin) {
    return path.resolve(name(begin));
  }

  /**
   * Lists the segments. Each file with the name of a segment is checked without being opened: it
   * has to be a regular file, with a length that a segment of this database can have, and its name
   * has to be a position at which a segment can begin. A crash never leaves anything else. Files
   * with other names are ignored.
   *
   * @return all segment files
   */
  public SegmentMap list() {
    SegmentMap found = new SegmentMap();
    List<Path> segments = new ArrayList<>();
    for (Path entry : entries()) {
      if (beginOf(entry, SUFFIX + UNFINISHED) >= 0) {
        FileKinds.isFile(entry);
      }
      long begin = beginOf(entry, SUFFIX);
      if (begin >= 0) {
        long length = FileKinds.size(entry);
        if (length >= 0) { // else it has gone since
          found.add(checked(entry, begin, length));
          segments.add(entry);
        }
      }
    }
    FileKinds.areDistinct(segments);
    return found;
  }

  /** Deletes what an interrupted creation or copy of a segment has left. */
  public void deleteUnfinished() {
    for (Path entry : entries()) {
      if (beginOf(entry, SUFFIX + UNFINISHED) >= 0) {
        delete(entry);
      }
    }
  }

  private SegmentPlace checked(Path file, long begin, long length) {
    if (length > segmentSize || !SegmentLayout.isSize((int) length)) {
      throw wrongLength(
          file,
          length,
          segmentSize,
          "segments of this database have a power of two of bytes, "
              + SegmentLayout.SMALLEST_SIZE
              + " to "
              + segmentSize);
    }
    if (!SegmentLayout.isSegment(begin, (int) length)) {
      throw stray(begin, "no segment of a log can begin at this position");
    }
    return new SegmentPlace(begin, (int) length);
  }

  private static DamagedFileException wrongLength(
      Path file, long length, long most, String expected) {
    return new DamagedFileException(
        file,
        Math.min(length, most),
        "the log segment has "
            + length
            + " bytes, but "
            + expected
            + "; a segment gets its name only when it is whole",
        "restore the database from a copy, or move the file away if it never belonged here",
        /* cause= */ null);
  }

  /**
   * Returns the exception for a file with the name of a segment that never existed.
   *
   * @param begin the position in its name
   * @param reason why the segment cannot have existed
   * @return the exception to throw
   */
  public DamagedFileException stray(long begin, String reason) {
    return new DamagedFileException(
        file(begin),
        FileException.NO_OFFSET,
        "this file does not belong to the log: " + reason,
        "move it out of the directory and open the database again",
        /* cause= */ null);
  }

  private List<Path> entries() {
    List<Path> found = new ArrayList<>();
    if (!FileKinds.isDirectory(path)) {
      throw new MissingFileException(
          path,
          FileException.NO_OFFSET,
          "the directory of the log is missing",
          "bring it back, or restore the database from a copy",
          /* cause= */ null);
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      for (Path entry : entries) {
        found.add(entry);
      }
    } catch (DirectoryIteratorException failed) {
      throw IoFailures.of(path, FileException.NO_OFFSET, "listing the log", said(failed));
    } catch (IOException failed) {
      throw IoFailures.of(path, FileException.NO_OFFSET, "listing the log", failed);
    }
    return found;
  }

  private static IOException said(DirectoryIteratorException failed) {
    @Nullable IOException cause = failed.getCause();
    return cause == null ? new IOException(failed) : cause;
  }

  /** Returns the position in the name of a segment, or -1 for any other name. */
  private static long beginOf(Path entry, String suffix) {
    @Nullable Path last = entry.getFileName();
    String name = last == null ? "" : last.toString();
    if (name.length() != DIGITS + suffix.length() || !name.endsWith(suffix)) {
      return -1;
    }
    long begin = 0;
    for (int i = 0; i < DIGITS; i++) {
      int digit = "0123456789abcdef".indexOf(name.charAt(i));
      if (digit < 0 || (i == 0 && digit > 7)) {
        return -1; // a foreign file: it has no place in the log and is left alone
      }
      begin = begin << 4 | digit;
    }
    return begin;
  }

  /**
   * Opens a segment.
   *
   * @param begin its first position
   * @param mode to read it or to write it
   * @return the open file
   */
  public StorageFile open(long begin, OpenMode mode) {
    return StorageFile.open(file(begin), mode, /* ownerOnly= */ true, statistics)
        .ownedBy(ownership);
  }

  /**
   * Reads the header of a segment. An intact header contains the length of the file, even if it is
   * the header of an earlier use: a file is recycled only for a segment of the same size.
   *
   * @param place the file; its header must contain the same first position
   * @return the header; null if the file has no valid header of that segment, so that it is free
   *     and was only renamed to become that segment
   */
  public @Nullable SegmentHeader header(SegmentPlace place) {
    byte[] sector = new byte[SegmentLayout.CHECKED];
    try (StorageFile file = open(place.begin(), OpenMode.READ)) {
      if (file.readUpTo(0, MemorySegment.ofArray(sector)) < sector.length) {
        return null;
      }
      @Nullable SegmentHeader header =
          SegmentHeader.read(sector, file.path(), databaseId, segmentSize);
      if (header != null && header.size() != place.size()) {
        throw wrongLength(
            file.path(), place.size(), header.size(), "its header says " + header.size());
      }
      return header != null && header.begin() == place.begin() ? header : null;
    }
  }

  /**
   * Creates a new segment, which is durable under its name on return.
   *
   * @param header its header; an existing file of this name is replaced
   */
  public void create(SegmentHeader header) {
    Path unfinished = unfinished(header.begin());
    try (StorageFile file = create(unfinished)) {
      writeHeader(file, header);
      file.preallocate(SegmentLayout.CHECKED, header.size());
      file.force();
    } catch (FileException failed) {
      giveUp(unfinished, failed);
      throw failed;
    }
    rename(unfinished, file(header.begin()));
    forceNames();
  }

  /**
   * Renames a segment that is no longer needed to a new one of the same size. The name is durable
   * after {@link #forceNames}. Until {@link #reuse} the file is no segment, because its header
   * contains another position.
   *
   * @param from its first position
   * @param to the first position of the new one
   */
  public void rename(long from, long to) {
    if (from != to) { // else a restart that was killed has done it
      rename(file(from), file(to));
    }
  }

  /**
   * Turns a renamed file into the segment of its name, which is durable on return.
   *
   * @param header its header
   */
  public void reuse(SegmentHeader header) {
    try (StorageFile file = open(header.begin(), OpenMode.READ_WRITE)) {
      long size = file.size();
      if (size > header.size()) {
        file.truncate(header.size());
      } else if (size < header.size()) {
        file.preallocate(size, header.size());
      }
      writeHeader(file, header);
      file.force();
    }
  }

  /**
   * Replaces a segment by a copy of its beginning: a new file, forced, under the old name.
   *
   * @param header the header of the copy
   * @param end the number of bytes that are copied; zeros follow
   * @param unwritten replaces the content of the segment from its start on; null for none
   */
  public void copy(SegmentHeader header, long end, @Nullable UnwrittenLog unwritten) {
    Path unfinished = unfinished(header.begin());
    long kept =
        unwritten == null
            ? end
            : Math.clamp(header.place().offset(unwritten.start()), SegmentLayout.HEADER, end);
    try (StorageFile to = create(unfinished)) {
      writeHeader(to, header);
      to.preallocate(SegmentLayout.CHECKED, SegmentLayout.HEADER);
      copyFile(header.begin(), kept, to);
      if (unwritten != null && kept < end) {
        long from = header.begin() + kept - SegmentLayout.HEADER - unwritten.start();
        to.write(kept, MemorySegment.ofArray(unwritten.bytes()).asSlice(from, end - kept));
      }
      to.preallocate(end, header.size());
      to.force();
    } catch (FileException failed) {
      giveUp(unfinished, failed);
      throw failed;
    }
    rename(unfinished, file(header.begin()));
  }

  private void copyFile(long begin, long end, StorageFile to) {
    if (end <= SegmentLayout.HEADER) {
      return; // there may be no such file
    }
    try (StorageFile from = open(begin, OpenMode.READ)) {
      MemorySegment chunk =
          MemorySegment.ofArray(new byte[(int) Math.min(CHUNK, end - SegmentLayout.HEADER)]);
      for (long at = SegmentLayout.HEADER; at < end; at += CHUNK) {
        MemorySegment piece = chunk.asSlice(0, Math.min(CHUNK, end - at));
        from.read(at, piece);
        to.write(at, piece);
      }
    }
  }

  /**
   * Deletes a segment.
   *
   * @param begin its first position
   */
  public void delete(long begin) {
    delete(file(begin));
  }

  /** Makes creations and renames durable. */
  public void forceNames() {
    Directories.force(path, statistics);
    checkOwner();
  }

  private void checkOwner() {
    ownership.checkFile(path);
  }

  /**
   * Watches a segment from now on. The checks of the directory before and after prove that the
   * segment is in the directory of this database.
   */
  void relyOn(SegmentPlace place) {
    checkOwner();
    ownership.watch(file(place.begin()), place::size);
    checkOwner();
  }

  /** Stops watching a segment. */
  void relyOnNoMore(SegmentPlace place) {
    ownership.forget(file(place.begin()));
  }

  private Path unfinished(long begin) {
    return path.resolve(name(begin) + UNFINISHED);
  }

  /** Without a formatter: the first use of one takes a fresh JVM many milliseconds. */
  private static String name(long begin) {
    String digits = Long.toHexString(begin);
    return "0".repeat(DIGITS - digits.length()) + digits + SUFFIX;
  }

  private StorageFile create(Path unfinished) {
    delete(unfinished);
    return StorageFile.open(unfinished, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics)
        .ownedBy(ownership);
  }

  private void writeHeader(StorageFile file, SegmentHeader header) {
    file.write(0, MemorySegment.ofArray(header.bytes(databaseId, segmentSize)));
  }

  private void giveUp(Path unfinished, FileException failed) {
    try {
      delete(unfinished);
    } catch (FileException second) {
      failed.addSuppressed(second);
    }
  }

  private void rename(Path from, Path to) {
    checkOwner();
    Directories.rename(from, to);
  }

  private void delete(Path file) {
    checkOwner();
    Directories.delete(file);
  }
}
