package org.revenantdb.recovery.file;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;

/**
 * Reads a file on threads of callers, which may be interrupted. The file is opened several more
 * times, as {@link RandomAccessFile}: an interrupt does not close that, as it closes a {@link
 * java.nio.channels.FileChannel}.
 *
 * <p>If the system has the bytes in its cache, handing a read over to another thread and waiting
 * for it takes several times as long as the read.
 *
 * <p>A reader with more memory of its own than is left for the cache of the system can ask for
 * reads beside that cache. Then each opening has a second one for that ({@link DirectReads}). A
 * read that is not possible there goes through the cache.
 *
 * <p>Each opening has its own position and serves one thread at a time. If none is free, the call
 * returns {@link #NOT_DONE}. There are no openings if the file is not in the default file system,
 * or could not be opened again. Virtual threads are not served, because the read would block their
 * carrier thread.
 *
 * <p>Thread-safe. {@link #close} waits for the reads that are under way.
 */
public final class CallerReads implements AutoCloseable {
  /** The result if the caller has to let another thread do the read. */
  public static final int NOT_DONE = -1;

  private static final class Opening {
    final PatientLock lock = new PatientLock();
    final RandomAccessFile file;
    final byte[] bytes;
    @Nullable DirectReads direct;
    boolean closed;

    Opening(RandomAccessFile file, int bytes) {
      this.file = file;
      this.bytes = new byte[bytes];
    }

    void close() throws IOException {
      closed = true;
      try (file) {
        if (direct != null) {
          direct.close();
        }
      }
    }
  }

  private final Path path;
  private final IoStatistics statistics;
  private final Opening[] openings;
  private final BooleanSupplier othersShown;
  private volatile boolean beside;

  private CallerReads(
      Path path, IoStatistics statistics, List<Opening> openings, BooleanSupplier othersShown) {
    this.othersShown = othersShown;
    this.path = path;
    this.statistics = statistics;
    this.openings = openings.toArray(Opening[]::new);
    this.beside = openings.stream().anyMatch(opening -> opening.direct != null);
  }

  /**
   * Opens a file again.
   *
   * @param path the file, which is open and stays under this name
   * @param statistics where reads are counted
   * @param times the number of openings, and so of threads that can read at once
   * @param bytes the most that one read is about
   * @param beside whether reads go beside the cache of the system, where that is possible
   * @param othersShown whether readers get other bytes than those in the file now: then these
   *     openings are not used
   */
  static CallerReads open(
      Path path,
      IoStatistics statistics,
      int times,
      int bytes,
      boolean beside,
      BooleanSupplier othersShown) {
    List<Opening> openings = new ArrayList<>();
    if (path.getFileSystem().equals(FileSystems.getDefault())) {
      try {
        for (int i = 0; i < times; i++) {
          Opening opening = new Opening(new RandomAccessFile(path.toFile(), "r"), bytes);
          openings.add(opening);
          if (beside) {
            opening.direct = DirectReads.open(path);
          }
        }
      } catch (IOException noDescriptors) {
        // What is left of them the engine needs for its files; its threads read for callers.
        new CallerReads(path, statistics, openings, othersShown).close();
        openings.clear();
      }
    }
    return new CallerReads(path, statistics, openings, othersShown);
  }

  /**
   * Whether reads may go beside the cache of the system.
   *
   * @return false if that was not wanted, is not possible, or was given up
   */
  public boolean readsBeside() {
    return beside;
  }

  /** From now on all reads go through the cache of the system. */
  public void giveUpBeside() {
    beside = false;
  }

  /**
   * Fills a segment from the file as far as the file goes, if an opening is free.
   *
   * @param position the first byte in the file
   * @param target receives the bytes
   * @return how many bytes were read, which is less than the size of the segment only at the end of
   *     the file; or {@link #NOT_DONE}
   * @throws FileException if reading fails
   */
  public int readUpTo(long position, MemorySegment target) {
    return readUpTo(position, target, /* mayBeside= */ true);
  }

  /**
   * As {@link #readUpTo(long, MemorySegment)}.
   *
   * @param position the first byte in the file
   * @param target receives the bytes
   * @param mayBeside whether the read may go beside the cache of the system
   * @return how many bytes were read, or {@link #NOT_DONE}
   */
  public int readUpTo(long position, MemorySegment target, boolean mayBeside) {
    Thread thread = Thread.currentThread();
    if (openings.length == 0 || thread.isVirtual() || othersShown.getAsBoolean()) {
      return NOT_DONE;
    }
    int first = (int) (thread.threadId() % openings.length);
    for (int i = 0; i < openings.length; i++) {
      Opening opening = openings[(first + i) % openings.length];
      if (opening.lock.tryLock()) {
        try {
          return opening.closed || opening.bytes.length < target.byteSize()
              ? NOT_DONE
              : read(opening, position, target, mayBeside && beside);
        } finally {
          opening.lock.unlock();
        }
      }
    }
    return NOT_DONE;
  }

  private int read(Opening opening, long position, MemorySegment target, boolean mayBeside) {
    int wanted = (int) target.byteSize();
    DirectReads direct = opening.direct;
    int done =
        mayBeside && direct != null && direct.read(position, opening.bytes, wanted)
            ? wanted
            : readThroughCache(opening, position, wanted);
    MemorySegment.copy(opening.bytes, 0, target, ValueLayout.JAVA_BYTE, 0, done);
    statistics.countRead(done);
    return done;
  }

  private int readThroughCache(Opening opening, long position, int wanted) {
    int done = 0;
    try {
      opening.file.seek(position);
      while (done < wanted) {
        int n = opening.file.read(opening.bytes, done, wanted - done);
        if (n < 0) {
          break;
        }
        done += n;
      }
    } catch (IOException failed) {
      throw IoFailures.of(path, position + done, "reading", failed);
    }
    return done;
  }

  /**
   * Closes all openings. Later reads return {@link #NOT_DONE}.
   *
   * @throws FileException if that failed for one of them; all others are closed
   */
  @Override
  public void close() {
    @Nullable FileException failure = null;
    for (Opening opening : openings) {
      opening.lock.lock();
      try {
        opening.close();
      } catch (IOException failed) {
        failure = IoFailures.of(path, FileException.NO_OFFSET, "closing", failed);
      } finally {
        opening.lock.unlock();
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
