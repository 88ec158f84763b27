package org.revenantdb.recovery.restart;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.segment.SegmentPlace;

/**
 * Segments of the log that are mapped into memory, so that any thread can read them without a
 * system call. A thread that may be interrupted must not use the channel of a file, but may read
 * memory.
 *
 * <p>Threads: any number at the same time. It is closed when no thread reads any more.
 *
 * <p>Failure: none. Bytes that cannot be read this way must be read from the files, which report
 * the error.
 */
final class MappedLog implements AutoCloseable {
  /*
   * A fault    If a file becomes shorter, or its device fails, the access ends in an InternalError. The JVM may throw
   *            it later than the access, at the next system call at the latest. So bytes count only with their
   *            checksum. If that is wrong, the reader calls MappingFault.await() first. The reader catches the
   *            error around all of this, and gives the mapping up.
   */

  /** The system limits the mappings of a process, and each takes some microseconds to make. */
  static final int MOST_SEGMENTS = 1024;

  private static final MappedLog NOTHING = new MappedLog(List.of(), List.of(), /* arena= */ null);

  /** Where the segments begin, in ascending order. */
  private final long[] begins;

  private final SegmentPlace[] places;
  private final MemorySegment[] segments;
  private final @Nullable Arena arena;
  private volatile boolean faulty;

  private MappedLog(
      List<SegmentPlace> places, List<MemorySegment> segments, @Nullable Arena arena) {
    begins = new long[places.size()];
    for (int i = 0; i < begins.length; i++) {
      begins[i] = places.get(i).begin();
    }
    this.places = places.toArray(new SegmentPlace[0]);
    this.segments = segments.toArray(new MemorySegment[0]);
    this.arena = arena;
  }

  /** No segment is mapped. */
  static MappedLog nothing() {
    return NOTHING;
  }

  /**
   * Maps segments, on a thread that is never interrupted.
   *
   * @param first a position in the first one
   * @param last a position in the last one
   * @return the segments that could be mapped: none, if the file system has no mappings
   */
  static MappedLog of(SegmentCatalog catalog, long first, long last) {
    Arena arena = Arena.ofShared();
    List<SegmentPlace> places = new ArrayList<>();
    List<MemorySegment> segments = new ArrayList<>();
    for (SegmentPlace place : catalog.holding(first, last + 1)) {
      if (places.size() == MOST_SEGMENTS) {
        break;
      }
      try (StorageFile file = catalog.directory().open(place.begin(), OpenMode.READ)) {
        @Nullable MemorySegment segment = file.map(arena);
        if (segment == null) {
          break;
        }
        places.add(place);
        segments.add(segment);
      } catch (FileException gone) {
        // The segment belongs to a life that came to nothing, and was given up after analysis.
        // If it contained a part, that page would be redone from the files, which report the error.
      }
    }
    if (places.isEmpty()) {
      arena.close();
      return nothing();
    }
    return new MappedLog(places, segments, arena);
  }

  /** Whether the mapping can be read. */
  boolean isReadable() {
    return begins.length > 0 && !faulty;
  }

  /** Whether a position is in a segment that was mapped. */
  boolean holds(long lsn) {
    return indexOf(lsn) >= 0;
  }

  /**
   * Copies bytes of the log.
   *
   * @param start the position of the first one
   * @param length how many
   * @param target receives them, from its beginning
   * @return false if they could not be copied; if true, their checksum must be compared
   * @throws InternalError at a fault; the JVM may throw it also later, in any next action
   */
  boolean copy(long start, int length, byte[] target) {
    int done = 0;
    while (done < length) {
      int index = indexOf(start + done);
      if (index < 0) {
        return false; // a hole between two segments
      }
      SegmentPlace place = places[index];
      MemorySegment segment = segments[index];
      long at = place.offset(start + done);
      int here = (int) Math.min(length - done, place.end() - start - done);
      if (at + here > segment.byteSize()) {
        return false;
      }
      MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, at, target, done, here);
      done += here;
    }
    return true;
  }

  /** The mapped segment that holds a position; below 0 if there is none. */
  private int indexOf(long lsn) {
    int index = Begins.lastAtOrBelow(begins, lsn);
    return index >= 0 && places[index].holds(lsn) ? index : -1;
  }

  /** Ends the use of the mapping. */
  void giveUp() {
    faulty = true;
  }

  @Override
  public void close() {
    if (arena != null && arena.scope().isAlive()) {
      arena.close();
    }
  }
}
