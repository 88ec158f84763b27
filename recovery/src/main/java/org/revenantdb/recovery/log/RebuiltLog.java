package org.revenantdb.recovery.log;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;

/**
 * The segments of a copy of a log. They hold the positions that the segments of the original hold,
 * and the id of the copy.
 *
 * <p>Threads: one. Failure: a {@link org.revenantdb.recovery.file.FileException}; the files are the
 * caller's to delete.
 */
public final class RebuiltLog implements LogTarget {
  /*
   * The header of a file is written when its records are: until then the file is no segment. A position that is not
   * copied is zeros: below the first record, and between the end of a life and the end of its last segment.
   */

  private final SegmentDirectory to;
  private @Nullable SegmentHeader header;
  private @Nullable StorageFile file;
  private long written;

  /**
   * Writes nothing yet.
   *
   * @param directory an empty directory
   * @param databaseId id of the copy, 16 bytes
   * @param segmentSize the full size of segments
   * @param statistics where writes and forces are counted
   */
  public RebuiltLog(Path directory, byte[] databaseId, int segmentSize, IoStatistics statistics) {
    to = new SegmentDirectory(directory, databaseId.clone(), segmentSize, statistics);
  }

  /**
   * Appends records.
   *
   * @param piece the records; they begin where the ones before end, or with a life
   * @param from the first record that is taken, at or behind the begin of the piece
   * @param upTo the LSN of the last one
   * @throws IllegalStateException if the piece has no segment for one of them
   */
  public void append(LogPiece piece, long from, long upTo) {
    int skipped = (int) (from - piece.from());
    if (!write(from, piece.records(), skipped, (int) (upTo - from), piece::headerAt)) {
      throw new IllegalStateException("a piece of log lacks a segment at position " + written);
    }
  }

  @Override
  public boolean write(long start, byte[] bytes, int offset, int length, Headers headers) {
    if (start != written) {
      if (header != null) {
        end(header, written); // of a life
      }
      written = start;
    }
    int done = 0;
    while (done < length) {
      SegmentHeader now = fileFor(headers);
      if (now == null) {
        return false;
      }
      int piece = (int) Math.min(length - done, now.place().end() - written);
      Objects.requireNonNull(file)
          .write(
              now.place().offset(written),
              MemorySegment.ofArray(bytes).asSlice(offset + done, piece));
      done += piece;
      written += piece;
    }
    return true;
  }

  /** The header of the file that holds the next position; null if that of the original is gone. */
  private @Nullable SegmentHeader fileFor(Headers headers) {
    @Nullable SegmentHeader now = header;
    if (now != null && now.place().holds(written)) {
      return now;
    }
    @Nullable SegmentHeader found = headers.at(written);
    if (found == null) {
      return null;
    }
    if (now != null) {
      end(now, now.place().end());
    }
    StorageFile made =
        StorageFile.open(
            to.file(found.begin()), OpenMode.CREATE_NEW, /* ownerOnly= */ true, to.statistics());
    file = made;
    header = found;
    made.preallocate(0, found.place().offset(written));
    return found;
  }

  /** Nothing more comes into the present file. */
  private void end(SegmentHeader of, long end) {
    StorageFile full = Objects.requireNonNull(file);
    full.preallocate(of.place().offset(end), of.size());
    full.write(0, MemorySegment.ofArray(of.bytes(to.databaseId(), to.segmentSize())));
    full.force();
    full.close();
    file = null;
    header = null;
  }

  /** Seals the log where it ends now, and forces its files and their names. */
  @Override
  public void finish() {
    @Nullable SegmentHeader last = header;
    if (last != null) {
      end(last.sealedAt(written), written);
    }
    Directories.force(to.path(), to.statistics());
  }

  /** Closes the file. */
  @Override
  public void close() {
    if (file != null) {
      file.close();
      file = null;
    }
  }
}
