package org.revenantdb.recovery.log;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.SegmentPlace;

/**
 * The segments of a copy of a log that goes on ({@code docs/protocols.md} §50). They hold the
 * positions that the segments of the original hold, and the id of the copy. While records are
 * appended, others may read what was appended before.
 *
 * <p>Threads: one that may access files. Failure: a {@link FileException}; the object is not used
 * any more then, and the next one cuts what was not known as durable.
 */
public final class FollowedLog implements AutoCloseable {
  private static final int CHUNK = 1 << 18;
  private static final int DIGITS = 16;
  private static final Pattern SEGMENT = Pattern.compile("[0-7][0-9a-f]{15}\\.log");

  private final SegmentDirectory to;
  private @Nullable SegmentHeader header;
  private @Nullable StorageFile file;
  private boolean isDirty;

  /**
   * Changes nothing.
   *
   * @param directory the log directory of the copy
   * @param databaseId id of the copy, 16 bytes
   * @param segmentSize the full size of segments
   * @param statistics where writes and forces are counted
   */
  public FollowedLog(Path directory, byte[] databaseId, int segmentSize, IoStatistics statistics) {
    to = new SegmentDirectory(directory, databaseId.clone(), segmentSize, statistics);
  }

  /**
   * Makes a position the end of the log, durably: what a killed process has left behind it goes.
   *
   * @param end a position that the log has reached, or the begin of its first file
   */
  public void cutAt(long end) {
    List<Long> begins = begins();
    Collections.sort(begins, Collections.reverseOrder()); // so that no file is missing in between
    for (long begin : begins) {
      Path path = to.file(begin);
      if (begin >= end) {
        Directories.delete(path);
      } else {
        clear(path, begin, end);
      }
    }
    Directories.force(to.path(), to.statistics());
  }

  /** Zeros behind the end, so that what stands there is not taken for log. */
  private void clear(Path path, long begin, long end) {
    int size = (int) FileKinds.size(path);
    if (end >= new SegmentPlace(begin, size).end()) {
      return;
    }
    MemorySegment piece = MemorySegment.ofArray(new byte[CHUNK]);
    MemorySegment zeros = MemorySegment.ofArray(new byte[CHUNK]);
    try (StorageFile segment =
        StorageFile.open(path, OpenMode.READ_WRITE, /* ownerOnly= */ true, to.statistics())) {
      for (long at = new SegmentPlace(begin, size).offset(end); at < size; at += CHUNK) {
        MemorySegment now = piece.asSlice(0, Math.min(CHUNK, size - at));
        segment.read(at, now);
        MemorySegment empty = zeros.asSlice(0, now.byteSize());
        if (now.mismatch(empty) >= 0) {
          segment.write(at, empty);
        }
      }
      segment.force(); // also what was written before: the cache may show what is not on the medium
    }
  }

  /**
   * Appends records. They are durable after the next {@link #force}.
   *
   * @param piece the records
   * @param from the first record that is taken: where the log ends, or the begin of a life
   * @throws IllegalStateException if the piece has no segment for one of them
   */
  public void append(LogPiece piece, long from) {
    MemorySegment records = MemorySegment.ofArray(piece.records());
    for (long at = from; at < piece.to(); ) {
      SegmentHeader now = fileFor(piece, at);
      long upTo = Math.min(piece.to(), now.place().end());
      Objects.requireNonNull(file)
          .write(now.place().offset(at), records.asSlice(at - piece.from(), upTo - at));
      isDirty = true;
      at = upTo;
    }
  }

  private SegmentHeader fileFor(LogPiece piece, long lsn) {
    SegmentHeader now = header;
    if (now != null && now.place().holds(lsn)) {
      return now;
    }
    SegmentHeader found = piece.headerAt(lsn);
    if (found == null) {
      throw new IllegalStateException("a piece of log lacks a segment at position " + lsn);
    }
    close();
    Path path = to.file(found.begin());
    boolean isNew = !Directories.exists(path);
    StorageFile opened =
        StorageFile.open(
            path,
            isNew ? OpenMode.CREATE_NEW : OpenMode.READ_WRITE,
            /* ownerOnly= */ true,
            to.statistics());
    file = opened;
    if (isNew) {
      opened.preallocate(0, found.size());
    }
    // Also over the header of a file that was sealed where its copy ended.
    opened.write(0, MemorySegment.ofArray(found.bytes(to.databaseId(), to.segmentSize())));
    opened.force();
    Directories.force(to.path(), to.statistics());
    header = found;
    return found;
  }

  /** Makes all records durable that were appended. */
  public void force() {
    StorageFile now = file;
    if (now != null && isDirty) {
      now.force();
      isDirty = false;
    }
  }

  /**
   * Deletes files that hold no position from one on.
   *
   * @param lsn the position
   */
  public void deleteBelow(long lsn) {
    List<Long> begins = begins();
    Collections.sort(begins);
    for (long begin : begins) {
      Path path = to.file(begin);
      if (new SegmentPlace(begin, (int) FileKinds.size(path)).end() > lsn) {
        return;
      }
      Directories.delete(path);
    }
  }

  private List<Long> begins() {
    List<Long> begins = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(to.path())) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        if (SEGMENT.matcher(name).matches()) {
          begins.add(Long.parseLong(name.substring(0, DIGITS), /* radix= */ 16));
        }
      }
    } catch (DirectoryIteratorException failed) {
      throw unlisted(Objects.requireNonNull(failed.getCause()));
    } catch (IOException failed) {
      throw unlisted(failed);
    }
    return begins;
  }

  private FileException unlisted(IOException failed) {
    return IoFailures.of(to.path(), FileException.NO_OFFSET, "listing the log", failed);
  }

  /** Forces what was appended, and closes the file. */
  @Override
  public void close() {
    StorageFile now = file;
    if (now != null) {
      try {
        force();
      } finally {
        file = null;
        header = null;
        isDirty = false;
        now.close();
      }
    }
  }
}
