package org.revenantdb.recovery.file;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;

/**
 * A file of the database. Reads and writes are complete, and a failed force is final.
 *
 * <p>It uses a {@link FileChannel} of the user's {@link Path}, so it works with any file system.
 * Reads and writes go directly between the file and native memory. Heap segments must be backed by
 * a {@code byte[]}; the JDK copies them once.
 *
 * <p>Threads: any number at once, at different places of the file. Only threads of the engine,
 * which are never interrupted, because an interrupt closes a {@link FileChannel} for all threads.
 * Other threads read through {@link #callerReads}.
 *
 * <p>Failure: a {@link FileException}. A failed write may have changed any part of its range. After
 * a failed force every further write and force of this object fails (rule R6).
 *
 * {@snippet :
 * try (StorageFile file = StorageFile.open(path, OpenMode.CREATE_NEW, true)) {
 *   file.write(0, page);
 *   file.force();
 * }
 * }
 */
public final class StorageFile implements AutoCloseable {
  /** The JDK copies heap memory through a cached native buffer; this keeps that buffer small. */
  private static final int HEAP_CHUNK = 1 << 18;

  /** The size of a {@link ByteBuffer} view is an int. */
  private static final int NATIVE_CHUNK = 1 << 30;

  private static final int ZEROS_SIZE = 1 << 18;

  /** How often in a row the system may write zero bytes before that is an error. */
  private static final int PATIENCE = 100;

  private static final class Zeros {
    static final MemorySegment SEGMENT = Arena.ofAuto().allocate(ZEROS_SIZE, 4096).asReadOnly();
  }

  private final Path path;
  private final FileChannel channel;
  private final IoStatistics statistics;
  private final PatientLock forcing = new PatientLock();
  private volatile @Nullable ForceFailedException failedForce;
  private volatile Ownership ownership = Ownership.none();

  /** Pages that readers get instead of the file's bytes, by position; null if there are none. */
  private volatile @Nullable Map<Long, MemorySegment> shown;

  private StorageFile(Path path, FileChannel channel, IoStatistics statistics) {
    this.path = path;
    this.channel = channel;
    this.statistics = statistics;
  }

  /**
   * Opens a file with counters of its own.
   *
   * @param path the file
   * @param mode how
   * @param ownerOnly whether a new file is for its owner only ({@code rw-------}), where the file
   *     system knows permissions
   * @return the open file
   */
  public static StorageFile open(Path path, OpenMode mode, boolean ownerOnly) {
    return open(path, mode, ownerOnly, new IoStatistics());
  }

  /**
   * Opens a file.
   *
   * @param path the file
   * @param mode how
   * @param ownerOnly whether a new file is for its owner only ({@code rw-------}), where the file
   *     system knows permissions
   * @param statistics where its reads, writes and forces are counted
   * @return the open file
   */
  public static StorageFile open(
      Path path, OpenMode mode, boolean ownerOnly, IoStatistics statistics) {
    boolean create = mode == OpenMode.CREATE_NEW;
    FileAttribute<?>[] attributes =
        create && ownerOnly ? Directories.ownerOnly(path, "rw-------") : new FileAttribute<?>[0];
    String doing = create ? "creating the file" : "opening the file";
    if (!create) {
      FileKinds.isFile(path); // opening a pipe would block
    }
    try {
      return new StorageFile(path, FileChannel.open(path, options(mode), attributes), statistics);
    } catch (IOException failed) {
      throw IoFailures.of(path, FileException.NO_OFFSET, doing, failed, /* room= */ create ? 1 : 0);
    } catch (ReadOnlyFileSystemException readOnly) {
      throw IoFailures.readOnly(path, doing, readOnly);
    }
  }

  private static Set<OpenOption> options(OpenMode mode) {
    return switch (mode) {
      case READ -> Set.of(StandardOpenOption.READ);
      case READ_WRITE -> Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
      case CREATE_NEW ->
          Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
    };
  }

  /**
   * Sets the ownership that is checked before each write and after each force. So an engine that
   * takes over the database later finds everything that was reported as durable.
   *
   * @param owner the ownership of the file's directory
   * @return this file
   */
  public StorageFile ownedBy(Ownership owner) {
    ownership = owner;
    return this;
  }

  /**
   * The ownership that is checked before each write.
   *
   * @return the ownership, by default {@link Ownership#none}
   */
  Ownership ownership() {
    return ownership;
  }

  /**
   * The file.
   *
   * @return the path that it was opened by
   */
  public Path path() {
    return path;
  }

  /**
   * Opens the file for reads on threads that may be interrupted.
   *
   * @param times how many threads can read at once
   * @param bytes the greatest size of a read; larger reads are {@link CallerReads#NOT_DONE}
   * @return the reads, which must be closed before this file
   */
  public CallerReads callerReads(int times, int bytes) {
    return callerReads(times, bytes, /* beside= */ false);
  }

  /**
   * As {@link #callerReads(int, int)}.
   *
   * @param times how many threads can read at once
   * @param bytes the greatest size of a read
   * @param beside whether reads go beside the cache of the system, where that is possible. This is
   *     for a reader that has more memory than is left for that cache, which would mostly hold what
   *     the reader has as well
   * @return the reads, which must be closed before this file
   */
  public CallerReads callerReads(int times, int bytes, boolean beside) {
    return CallerReads.open(path, statistics, times, bytes, beside, () -> shown != null);
  }

  /**
   * Fills a segment from the file.
   *
   * @param position the first byte in the file
   * @param target where they go; filled to its end
   * @throws DamagedFileException if the file ends before the segment is full
   */
  public void read(long position, MemorySegment target) {
    long done = readWhatIsThere(position, target, /* withShown= */ true);
    if (done < target.byteSize()) {
      throw new DamagedFileException(
          path,
          position + done,
          "the file ends here, but "
              + target.byteSize()
              + " bytes were expected from byte "
              + position);
    }
  }

  /**
   * Fills a segment from the file as far as the file goes.
   *
   * @param position the first byte in the file
   * @param target where they go, less than 2 GiB
   * @return how many bytes were read: the size of the segment, or fewer at the end of the file
   */
  public int readUpTo(long position, MemorySegment target) {
    return Math.toIntExact(readWhatIsThere(position, target, /* withShown= */ true));
  }

  private long readWhatIsThere(long position, MemorySegment target, boolean withShown) {
    long done = 0;
    try {
      while (done < target.byteSize()) {
        ByteBuffer view = chunk(target, done);
        int n = channel.read(view, position + done);
        if (n < 0) {
          break;
        }
        done += n;
      }
    } catch (IOException failed) {
      throw IoFailures.of(path, position + done, "reading", failed);
    }
    statistics.countRead(done);
    @Nullable Map<Long, MemorySegment> instead = shown;
    if (instead != null && withShown) {
      for (Map.Entry<Long, MemorySegment> page : instead.entrySet()) {
        show(page.getKey() - position, page.getValue(), target.asSlice(0, done));
      }
    }
    return done;
  }

  private static void show(long at, MemorySegment page, MemorySegment target) {
    long from = Math.max(0, at);
    long to = Math.min(target.byteSize(), at + page.byteSize());
    if (from < to) {
      MemorySegment.copy(page, from - at, target, from, to - from);
    }
  }

  /**
   * Maps the file, so that it can be read as memory.
   *
   * @param arena holds the mapping, which this file's {@link #close} does not end
   * @return all bytes that the file has now, read-only; null if that is not to be had here
   */
  public @Nullable MemorySegment map(Arena arena) {
    try {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
    } catch (IOException | UnsupportedOperationException notHere) {
      return null;
    }
  }

  /**
   * Makes readers of this object get other bytes than those in the file, until these have been
   * written.
   *
   * @param pages the pages by position; empty: readers get the bytes of the file
   */
  void showInstead(Map<Long, MemorySegment> pages) {
    shown = pages.isEmpty() ? null : Map.copyOf(pages);
  }

  /** As {@link #readUpTo}, but returns the bytes of the file even if readers get others. */
  int readBeneath(long position, MemorySegment target) {
    return Math.toIntExact(readWhatIsThere(position, target, /* withShown= */ false));
  }

  /**
   * Writes a segment to the file, whole.
   *
   * <p>The bytes are durable only after the next {@link #force}.
   *
   * @param position where its first byte goes
   * @param source the bytes
   */
  public void write(long position, MemorySegment source) {
    checkMayWrite();
    writeFully(position, source);
    statistics.countWrite(source.byteSize());
  }

  private void writeFully(long position, MemorySegment source) {
    long done = 0;
    int idle = 0;
    try {
      while (done < source.byteSize()) {
        int n = channel.write(chunk(source, done), position + done);
        done += n;
        idle = n > 0 ? 0 : idle + 1;
        if (idle > PATIENCE) {
          throw new IOException("the system accepts no more bytes");
        }
      }
    } catch (IOException failed) {
      throw IoFailures.of(
          path, position + done, "writing", failed, /* room= */ source.byteSize() - done);
    }
  }

  private static ByteBuffer chunk(MemorySegment segment, long from) {
    int limit = segment.isNative() ? NATIVE_CHUNK : HEAP_CHUNK;
    return segment.asSlice(from, Math.min(limit, segment.byteSize() - from)).asByteBuffer();
  }

  /**
   * Makes everything durable that was written to this file before.
   *
   * @throws ForceFailedException if this force or an earlier one has failed
   */
  public void force() {
    // One thread at a time: the system reports a failed write-back only once. If two threads forced
    // together, the other one would believe that all is well.
    forcing.lock();
    try {
      checkForces();
      channel.force(/* metaData= */ false);
    } catch (IOException failed) {
      ForceFailedException failure =
          new ForceFailedException(
              path, "forcing the file failed (" + IoFailures.said(failed) + ")", failed);
      failedForce = failure;
      throw failure;
    } finally {
      forcing.unlock();
    }
    statistics.countForce();
    ownership.check();
  }

  private void checkMayWrite() {
    checkForces();
    ownership.check();
  }

  private void checkForces() {
    @Nullable ForceFailedException earlier = failedForce;
    if (earlier != null) {
      throw new ForceFailedException(path, "an earlier force of this file failed", earlier);
    }
  }

  /**
   * Writes zeros, so that a full disk is noticed here and later writes have their room.
   *
   * <p>If this fails, the file gets its former size back, as far as the system allows.
   *
   * @param from the first byte
   * @param to the byte after the last one
   */
  public void preallocate(long from, long to) {
    checkMayWrite();
    long size = size();
    try {
      for (long at = from; at < to; at += ZEROS_SIZE) {
        writeFully(at, Zeros.SEGMENT.asSlice(0, Math.min(ZEROS_SIZE, to - at)));
      }
    } catch (FileException failed) {
      giveBack(size, failed);
      throw failed;
    }
    statistics.countWrite(to - from);
  }

  private void giveBack(long size, FileException failed) {
    try {
      truncate(size);
    } catch (FileException second) {
      failed.addSuppressed(second);
    }
  }

  /**
   * How long the file is.
   *
   * @return bytes
   */
  public long size() {
    try {
      return channel.size();
    } catch (IOException failed) {
      throw IoFailures.of(path, FileException.NO_OFFSET, "asking for the size", failed);
    }
  }

  /**
   * Cuts the file. A file that is not longer is unchanged.
   *
   * @param size the new size
   */
  public void truncate(long size) {
    checkMayWrite();
    try {
      channel.truncate(size);
    } catch (IOException failed) {
      throw IoFailures.of(path, size, "truncating", failed);
    }
  }

  /**
   * Whether the file system can map files into memory for writing. Nothing is mapped.
   *
   * @return false if {@link #map(long, long, Arena)} does not work
   */
  public boolean isMappable() {
    try (Arena arena = Arena.ofConfined()) {
      channel.map(FileChannel.MapMode.READ_WRITE, 0, 0, arena);
      return true;
    } catch (UnsupportedOperationException inMemory) {
      return false;
    } catch (IOException failed) {
      throw IoFailures.of(path, 0, "mapping", failed);
    }
  }

  /**
   * Maps a part of the file into memory. Stores into it are visible to every reader of the file,
   * and outlive the process. They are durable only after the system has written them.
   *
   * @param position the first byte
   * @param size how many, all of them in the file
   * @param arena closed when no thread uses the memory any more; this file may be closed before
   * @return the memory
   */
  public MemorySegment map(long position, long size, Arena arena) {
    checkMayWrite();
    try {
      return channel.map(FileChannel.MapMode.READ_WRITE, position, size, arena);
    } catch (IOException failed) {
      throw IoFailures.of(path, position, "mapping", failed);
    }
  }

  /** Closes the file without forcing it; a closed file stays closed. */
  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException failed) {
      throw IoFailures.of(path, FileException.NO_OFFSET, "closing", failed);
    }
  }
}
