package org.revenantdb.recovery.restart;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.SegmentDirectory;

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

  private static final MappedLog NOTHING = new MappedLog(0, new MemorySegment[0], null, 1);

  private final long firstNumber;
  private final @Nullable MemorySegment[] segments;
  private final @Nullable Arena arena;
  private final int segmentSize;
  private volatile boolean faulty;

  private MappedLog(
      long firstNumber,
      @Nullable MemorySegment[] segments,
      @Nullable Arena arena,
      int segmentSize) {
    this.firstNumber = firstNumber;
    this.segments = segments;
    this.arena = arena;
    this.segmentSize = segmentSize;
  }

  /** No segment is mapped. */
  static MappedLog nothing() {
    return NOTHING;
  }

  /**
   * Maps segments, on a thread that nobody interrupts.
   *
   * @param first the number of the first one
   * @param last the number of the last one
   * @return what could be mapped: nothing, if the file system has no mappings
   */
  static MappedLog of(SegmentCatalog catalog, long first, long last) {
    SegmentDirectory directory = catalog.directory();
    Arena arena = Arena.ofShared();
    @Nullable MemorySegment[] segments =
        new MemorySegment[(int) Math.min(last - first + 1, MOST_SEGMENTS)];
    boolean any = false;
    for (int i = 0; i < segments.length; i++) {
      if (catalog.present().contains(first + i)) {
        try (StorageFile file = directory.open(first + i, OpenMode.READ)) {
          segments[i] = file.map(arena);
        }
        if (segments[i] == null) {
          break;
        }
        any = true;
      }
    }
    if (!any) {
      arena.close();
      return nothing();
    }
    return new MappedLog(first, segments, arena, directory.segmentSize());
  }

  /** Whether something can be read. */
  boolean isReadable() {
    return segments.length > 0 && !faulty;
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
        long number = SegmentLayout.number(start + done, segmentSize);
        long index = number - firstNumber;
        @Nullable MemorySegment segment =
            index < 0 || index >= segments.length ? null : segments[(int) index];
        if (segment == null) {
          return false;
        }
        long at = SegmentLayout.offset(start + done, segmentSize);
        int here = (int) Math.min(length - done, segmentSize - at);
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

  /** Copied bytes had not their checksum: nothing is read here any more. */
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
