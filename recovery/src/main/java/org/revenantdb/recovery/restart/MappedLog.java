package org.revenantdb.recovery.restart;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.segment.SegmentPlace;

/**
 * Segments of the log as memory, to be read by any thread without a call of the system. A thread
 * that may be interrupted must not use the channel of a file; memory it may read.
 *
 * <p>Threads: any, several at once. It is closed when no thread reads any more.
 *
 * <p>Failure: none. What cannot be read this way must be read from the files, which name the error.
 */
final class MappedLog implements AutoCloseable {
  /*
   * A fault    If a file becomes shorter, or its device fails, the access ends in an InternalError. The JVM may throw it
   *            later than the access, at the next call of the system at the latest. So bytes count only with their
   *            checksum, and whoever misses that calls awaitFault() before it goes on.
   */

  /** The system bounds the number of mappings of a process, and each takes some microseconds. */
  static final int MOST_SEGMENTS = 1024;

  private static final MappedLog NOTHING = new MappedLog(List.of(), List.of(), /* arena= */ null);

  /** Where the segments begin, in ascending order, to be searched. */
  private final long[] begins;

  private final SegmentPlace[] places;
  private final MemorySegment[] segments;
  private final @Nullable Arena arena;
  private volatile boolean faulty;

  private MappedLog(
      List<SegmentPlace> places, List<MemorySegment> segments, @Nullable Arena arena) {
    begins = places.stream().mapToLong(SegmentPlace::begin).toArray();
    this.places = places.toArray(SegmentPlace[]::new);
    this.segments = segments.toArray(MemorySegment[]::new);
    this.arena = arena;
  }

  /** No segment is mapped. */
  static MappedLog nothing() {
    return NOTHING;
  }

  /**
   * Maps segments, on a thread that nobody interrupts.
   *
   * @param first a position in the first one
   * @param last a position in the last one
   * @return what could be mapped: nothing, if the file system has no mappings
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
      } catch (StorageException gone) {
        // The segment is of a life that came to nothing, and was given up since analysis read it.
        // If a part were in it, its page would be redone from the files, which name the error.
      }
    }
    if (places.isEmpty()) {
      arena.close();
      return nothing();
    }
    return new MappedLog(places, segments, arena);
  }

  /** Whether something can be read. */
  boolean isReadable() {
    return begins.length > 0 && !faulty;
  }

  /**
   * Copies bytes of the log.
   *
   * @param start the position of the first one
   * @param length how many
   * @param target where they go, from its beginning
   * @return false if they could not be copied; if true, their checksum must be compared
   */
  boolean copy(long start, int length, byte[] target) {
    if (!isReadable()) {
      return false;
    }
    try {
      int done = 0;
      while (done < length) {
        int index = indexOf(start + done);
        if (index < 0 || !places[index].holds(start + done)) {
          return false;
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
    } catch (InternalError fault) {
      faulty = true;
      return false;
    }
  }

  /** The last segment that begins at or below a position; below 0 if there is none. */
  private int indexOf(long lsn) {
    int found = Arrays.binarySearch(begins, lsn);
    return found >= 0 ? found : -found - 2;
  }

  /** Copied bytes had not their checksum: nothing is read here any more. */
  @SuppressWarnings("ThreadPriorityCheck") // any call of the system would do
  void awaitFault() {
    faulty = true;
    try {
      Thread.yield();
    } catch (InternalError fault) {
      // It was meant for copy().
    }
  }

  @Override
  public void close() {
    if (arena != null && arena.scope().isAlive()) {
      arena.close();
    }
  }
}
