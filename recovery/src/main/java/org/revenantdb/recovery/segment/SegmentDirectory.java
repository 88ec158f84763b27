package org.revenantdb.recovery.segment;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.CorruptDataException;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * The log directory: segments by number, and the few things that are done to them as files.
 *
 * <p>It keeps no state; who may touch which file is decided by its users, the restart first and the
 * {@link SegmentSupply} of the running log afterwards.
 *
 * @param path the directory
 * @param databaseId the database that every segment must belong to
 * @param segmentSize size of each segment in bytes
 * @param statistics where reads, writes and forces are counted
 * @param ownership what is checked before a file is made, written, renamed or deleted
 */
@SuppressWarnings("ArrayRecordComponent") // never compared nor printed
public record SegmentDirectory(
    Path path, byte[] databaseId, int segmentSize, IoStatistics statistics, Ownership ownership) {
  private static final String SUFFIX = ".log";
  private static final String UNFINISHED = ".tmp";
  private static final int DIGITS = 16;

  /** Bytes of a file that are written and copied at once. */
  private static final int CHUNK = 1 << 20;

  /**
   * A directory in which nothing is checked before it is written to.
   *
   * @param path the directory
   * @param databaseId the database that every segment must belong to
   * @param segmentSize size of each segment in bytes
   * @param statistics where reads, writes and forces are counted
   */
  public SegmentDirectory(Path path, byte[] databaseId, int segmentSize, IoStatistics statistics) {
    this(path, databaseId, segmentSize, statistics, Ownership.none());
  }

  /**
   * The file of a segment.
   *
   * @param number its number
   * @return its path, whether it exists or not
   */
  public Path file(long number) {
    return path.resolve(String.format("%016x", number) + SUFFIX);
  }

  /**
   * Lists the segments, and checks of each file that has the name of a segment, unopened, what no
   * crash leaves otherwise: that it is a file, is as long as all segments are, and has a number
   * that a segment can have. Files with other names are somebody else's.
   *
   * @return the numbers of all segment files
   */
  public NavigableSet<Long> list() {
    NavigableSet<Long> numbers = new TreeSet<>();
    List<Path> segments = new ArrayList<>();
    for (Path entry : entries()) {
      if (numberOf(entry, SUFFIX + UNFINISHED) >= 0) {
        FileKinds.isFile(entry);
      }
      long number = numberOf(entry, SUFFIX);
      if (number >= 0) {
        check(entry, number);
        numbers.add(number);
        segments.add(entry);
      }
    }
    FileKinds.areDistinct(segments);
    return numbers;
  }

  /** Deletes what an abandoned attempt to make or copy a segment has left. */
  public void deleteUnfinished() {
    for (Path entry : entries()) {
      if (numberOf(entry, SUFFIX + UNFINISHED) >= 0) {
        delete(entry);
      }
    }
  }

  private void check(Path file, long number) {
    long size = FileKinds.size(file);
    if (size >= 0 && size != segmentSize) {
      throw new CorruptDataException(
          file,
          Math.min(size, segmentSize),
          "the log segment has "
              + size
              + " bytes, but every segment of this database has "
              + segmentSize
              + ", because a segment gets its name only when it is whole",
          "restore the database from a copy, or move the file away if it never belonged here",
          /* cause= */ null);
    }
    if (!SegmentLayout.isNumber(number, segmentSize)) {
      throw stray(number, "no segment of a log can have this number");
    }
  }

  /**
   * A file has the name of a segment that there never was.
   *
   * @param number the number that its name says
   * @param reason how that is known
   * @return the exception to throw
   */
  public CorruptDataException stray(long number, String reason) {
    return new CorruptDataException(
        file(number),
        StorageException.NO_OFFSET,
        "this file does not belong to the log: " + reason,
        "move it out of the directory and open the database again",
        /* cause= */ null);
  }

  private List<Path> entries() {
    List<Path> found = new ArrayList<>();
    if (!FileKinds.isDirectory(path)) {
      throw new MissingFileException(
          path,
          StorageException.NO_OFFSET,
          "the directory of the log is missing",
          "bring it back, or restore the database from a copy",
          /* cause= */ null);
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      entries.forEach(found::add);
    } catch (DirectoryIteratorException failed) {
      throw IoFailures.of(path, StorageException.NO_OFFSET, "listing the log", said(failed));
    } catch (IOException failed) {
      throw IoFailures.of(path, StorageException.NO_OFFSET, "listing the log", failed);
    }
    return found;
  }

  private static IOException said(DirectoryIteratorException failed) {
    @Nullable IOException cause = failed.getCause();
    return cause == null ? new IOException(failed) : cause;
  }

  /** The number in a name that this class would give a file, or -1. */
  private static long numberOf(Path entry, String suffix) {
    @Nullable Path last = entry.getFileName();
    String name = last == null ? "" : last.toString();
    if (name.length() != DIGITS + suffix.length() || !name.endsWith(suffix)) {
      return -1;
    }
    long number = 0;
    for (int i = 0; i < DIGITS; i++) {
      int digit = "0123456789abcdef".indexOf(name.charAt(i));
      if (digit < 0 || (i == 0 && digit > 7)) {
        return -1; // a file of somebody else: it has no place in the log and is left alone
      }
      number = number << 4 | digit;
    }
    return number;
  }

  /**
   * Opens a segment.
   *
   * @param number its number
   * @param mode to read it or to write it
   * @return the open file
   */
  public StorageFile open(long number, OpenMode mode) {
    return StorageFile.open(file(number), mode, /* ownerOnly= */ true, statistics)
        .ownedBy(ownership);
  }

  /**
   * Reads the header of a segment.
   *
   * @param number its number, which the header must name too
   * @return what it says, or null if there is no good header of that segment: the file is free, and
   *     was renamed to become that segment
   */
  public @Nullable SegmentHeader header(long number) {
    byte[] sector = new byte[SegmentLayout.CHECKED];
    try (StorageFile file = open(number, OpenMode.READ)) {
      if (file.readUpTo(0, MemorySegment.ofArray(sector)) < sector.length) {
        return null;
      }
      @Nullable SegmentHeader header =
          SegmentHeader.read(sector, file.path(), databaseId, segmentSize);
      return header != null && header.number() == number ? header : null;
    }
  }

  /**
   * Makes a whole new segment; it is durable under its name on return.
   *
   * @param header its header; what file had this name is replaced
   */
  public void create(SegmentHeader header) {
    Path unfinished = unfinished(header.number());
    try (StorageFile file = create(unfinished)) {
      writeHeader(file, header);
      file.preallocate(SegmentLayout.CHECKED, segmentSize);
      file.force();
    } catch (StorageException failed) {
      giveUp(unfinished, failed);
      throw failed;
    }
    rename(unfinished, file(header.number()));
    forceNames();
  }

  /**
   * Gives a segment that is no longer needed the name of another; durable after {@link
   * #forceNames}. Until {@link #reuse} its header names another number: it is no segment at all.
   *
   * @param from its number
   * @param to the number of the new one
   */
  public void rename(long from, long to) {
    if (from != to) { // else a restart that was killed has done it
      rename(file(from), file(to));
    }
  }

  /**
   * Makes another segment of a file that has its name already; durable on return.
   *
   * @param header its header
   */
  public void reuse(SegmentHeader header) {
    try (StorageFile file = open(header.number(), OpenMode.READ_WRITE)) {
      long size = file.size();
      if (size > segmentSize) {
        file.truncate(segmentSize);
      } else if (size < segmentSize) {
        file.preallocate(size, segmentSize);
      }
      writeHeader(file, header);
      file.force();
    }
  }

  /**
   * Replaces a segment by a fresh copy of its beginning: new blocks, forced, under the old name.
   *
   * @param header the header of the copy
   * @param end how many bytes are copied; zeros follow
   * @param unwritten what is copied in place of the segment, from its start on; null for nothing
   */
  public void copy(SegmentHeader header, long end, @Nullable UnwrittenLog unwritten) {
    Path unfinished = unfinished(header.number());
    long first = SegmentLayout.firstLsn(header.number(), segmentSize);
    long kept =
        unwritten == null
            ? end
            : Math.clamp(
                SegmentLayout.HEADER + unwritten.start() - first, SegmentLayout.HEADER, end);
    try (StorageFile to = create(unfinished)) {
      writeHeader(to, header);
      to.preallocate(SegmentLayout.CHECKED, SegmentLayout.HEADER);
      copyFile(header.number(), kept, to);
      if (unwritten != null && kept < end) {
        long lsn = first + kept - SegmentLayout.HEADER;
        to.write(
            kept,
            MemorySegment.ofArray(unwritten.bytes()).asSlice(lsn - unwritten.start(), end - kept));
      }
      to.preallocate(end, segmentSize);
      to.force();
    } catch (StorageException failed) {
      giveUp(unfinished, failed);
      throw failed;
    }
    rename(unfinished, file(header.number()));
  }

  private void copyFile(long number, long end, StorageFile to) {
    if (end <= SegmentLayout.HEADER) {
      return; // there may be no such file
    }
    try (StorageFile from = open(number, OpenMode.READ)) {
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
   * @param number its number
   */
  public void delete(long number) {
    delete(file(number));
  }

  /** Makes creations and renames durable. */
  public void forceNames() {
    Directories.force(path, statistics);
    checkOwner();
  }

  private void checkOwner() {
    ownership.checkFile(path);
  }

  /** Relies on the directory, and on a segment, which is in that directory for sure. */
  void relyOn(long number) {
    checkOwner();
    ownership.watch(file(number), this::segmentSize);
    checkOwner();
  }

  /** Relies on a segment no longer. */
  void relyOnNoMore(long number) {
    ownership.forget(file(number));
  }

  private Path unfinished(long number) {
    return path.resolve(String.format("%016x", number) + SUFFIX + UNFINISHED);
  }

  private StorageFile create(Path unfinished) {
    delete(unfinished);
    return StorageFile.open(unfinished, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics)
        .ownedBy(ownership);
  }

  private void writeHeader(StorageFile file, SegmentHeader header) {
    file.write(0, MemorySegment.ofArray(header.bytes(databaseId)));
  }

  private void giveUp(Path unfinished, StorageException failed) {
    try {
      delete(unfinished);
    } catch (StorageException second) {
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
