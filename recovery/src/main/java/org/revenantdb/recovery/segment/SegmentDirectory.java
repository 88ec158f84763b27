package org.revenantdb.recovery.segment;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
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
 */
@SuppressWarnings("ArrayRecordComponent") // never compared nor printed
public record SegmentDirectory(
    Path path, byte[] databaseId, int segmentSize, IoStatistics statistics) {
  private static final String SUFFIX = ".log";
  private static final String UNFINISHED = ".tmp";
  private static final int DIGITS = 16;

  /** Bytes of a file that are written and copied at once. */
  private static final int CHUNK = 1 << 20;

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
   * Deletes what an abandoned attempt left and lists the segments.
   *
   * @param clean whether unfinished files are deleted
   * @return the numbers of all segment files
   */
  public NavigableSet<Long> list(boolean clean) {
    NavigableSet<Long> numbers = new TreeSet<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      for (Path entry : entries) {
        @Nullable Path last = entry.getFileName();
        String name = last == null ? "" : last.toString();
        if (clean && name.endsWith(SUFFIX + UNFINISHED)) {
          delete(entry);
        } else if (name.endsWith(SUFFIX) && name.length() == DIGITS + SUFFIX.length()) {
          addNumber(name.substring(0, DIGITS), numbers);
        }
      }
    } catch (DirectoryIteratorException failed) {
      throw IoFailures.of(path, StorageException.NO_OFFSET, "listing the log", said(failed));
    } catch (IOException failed) {
      throw IoFailures.of(path, StorageException.NO_OFFSET, "listing the log", failed);
    }
    return numbers;
  }

  private static IOException said(DirectoryIteratorException failed) {
    @Nullable IOException cause = failed.getCause();
    return cause == null ? new IOException(failed) : cause;
  }

  private static void addNumber(String digits, Set<Long> numbers) {
    try {
      numbers.add(Long.parseLong(digits, 16));
    } catch (NumberFormatException notOurs) {
      // A file of somebody else: it has no place in the log and is left alone.
      return;
    }
  }

  /**
   * Opens a segment.
   *
   * @param number its number
   * @param mode to read it or to write it
   * @return the open file
   */
  public StorageFile open(long number, OpenMode mode) {
    return StorageFile.open(file(number), mode, /* ownerOnly= */ true, statistics);
  }

  /**
   * Reads the header of a segment.
   *
   * @param number its number, which the header must name too
   * @return what it says, or null if there is no good header of that segment
   */
  public @Nullable SegmentHeader header(long number) {
    byte[] sector = new byte[SegmentLayout.CHECKED];
    try (StorageFile file = open(number, OpenMode.READ)) {
      if (file.readUpTo(0, MemorySegment.ofArray(sector)) < sector.length) {
        return null;
      }
      @Nullable SegmentHeader header = SegmentHeader.read(sector, file.path(), databaseId);
      return header != null && header.number() == number && header.size() == segmentSize
          ? header
          : null;
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
    rename(file(from), file(to));
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
   */
  public void copy(SegmentHeader header, long end) {
    Path unfinished = unfinished(header.number());
    try (StorageFile from = open(header.number(), OpenMode.READ);
        StorageFile to = create(unfinished)) {
      writeHeader(to, header);
      to.preallocate(SegmentLayout.CHECKED, SegmentLayout.HEADER);
      MemorySegment chunk =
          MemorySegment.ofArray(
              new byte[(int) Math.min(CHUNK, Math.max(0, end - SegmentLayout.HEADER))]);
      for (long at = SegmentLayout.HEADER; at < end; at += CHUNK) {
        MemorySegment piece = chunk.asSlice(0, Math.min(CHUNK, end - at));
        from.read(at, piece);
        to.write(at, piece);
      }
      to.preallocate(end, segmentSize);
      to.force();
    } catch (StorageException failed) {
      giveUp(unfinished, failed);
      throw failed;
    }
    rename(unfinished, file(header.number()));
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
  }

  private Path unfinished(long number) {
    return path.resolve(String.format("%016x", number) + SUFFIX + UNFINISHED);
  }

  private StorageFile create(Path unfinished) {
    delete(unfinished);
    return StorageFile.open(unfinished, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics);
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

  private static void rename(Path from, Path to) {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException failed) {
      throw IoFailures.of(from, StorageException.NO_OFFSET, "renaming", failed);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (NoSuchFileException gone) {
      return;
    } catch (IOException failed) {
      throw IoFailures.of(file, StorageException.NO_OFFSET, "deleting", failed);
    }
  }
}
