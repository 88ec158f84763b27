package org.revenantdb.recovery.log;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.file.StorageIOException;
import org.revenantdb.recovery.format.RingLayout;

/**
 * The ring of one life in a file that is mapped, so that what was published outlives the process.
 *
 * <p>Threads: one makes it, and one ends it when no other thread can access the ring any more.
 */
public final class RingFile {
  /*
   * Protocol    docs/protocols.md §46.
   *
   * Steps       1 former file deleted    crash: none is there. What was in it is in segments, durable, or its life has
   *                                      an end that is named
   *             2 unfinished file        crash: deleted by the next life
   *             3 mapped, renamed        crash: the file is there with its header, which was forced, or none, or after a
   *                                      power cut the former one, whose life is an earlier one
   *             4 end                    crash: the file is there, and the end of its life is named
   *
   * Room        zeros are written, not only reserved: a store in a page without a block would be ended by a signal on a
   *             full disk.
   */

  /** The name of the file. */
  public static final String NAME = "revenant.ring";

  /** Its name until it is whole. */
  public static final String UNFINISHED = NAME + ".new";

  private final Path file;
  private final Arena arena;
  private final MemorySegment ring;
  private final LogOptions options;

  private RingFile(Path file, Arena arena, MemorySegment ring, LogOptions options) {
    this.file = file;
    this.arena = arena;
    this.ring = ring;
    this.options = options;
  }

  /**
   * Where the file of a log is.
   *
   * @param logDirectory the directory of the log
   * @return a path beside that directory
   */
  public static Path beside(Path logDirectory) {
    return logDirectory.resolveSibling(NAME);
  }

  /**
   * Deletes the file of a former life. The first segment of the new one is durable.
   *
   * @param logDirectory the directory of the log
   */
  static void deleteFormer(Path logDirectory, LogOptions options) {
    Path file = beside(logDirectory);
    options.ownership().check();
    Directories.delete(file);
    Directories.delete(file.resolveSibling(UNFINISHED));
  }

  /**
   * Makes the file of a life. That of the former life is deleted.
   *
   * @param segment a file of the same file system, open
   * @return null if the file system cannot map files
   */
  static @Nullable RingFile create(LifeStart start, StorageFile segment, LogOptions options) {
    if (!segment.isMappable()) {
      return null;
    }
    Path file = beside(start.directory());
    Path unfinished = file.resolveSibling(UNFINISHED);
    options.ownership().check();
    Directories.delete(unfinished); // of an attempt that failed
    Arena arena = Arena.ofShared();
    try {
      int capacity = options.bufferCapacity();
      @Nullable MemorySegment ring = map(unfinished, arena, start, options);
      if (ring != null) {
        options.ownership().check();
        Directories.rename(unfinished, file);
        options.ownership().watch(file, () -> RingLayout.fileSize(capacity));
        return new RingFile(file, arena, ring, options);
      }
    } catch (Throwable failed) {
      giveUp(arena, unfinished, failed);
      throw failed;
    }
    arena.close();
    Directories.delete(unfinished);
    return null;
  }

  /** Returns null if the file has its room, but cannot be mapped. */
  private static @Nullable MemorySegment map(
      Path unfinished, Arena arena, LifeStart start, LogOptions options) {
    int capacity = options.bufferCapacity();
    RingHeader header = new RingHeader(start.life(), capacity, start.firstLsn());
    try (StorageFile made =
        StorageFile.open(
                unfinished, OpenMode.CREATE_NEW, /* ownerOnly= */ true, options.statistics())
            .ownedBy(options.ownership())) {
      byte[] page = Arrays.copyOf(header.bytes(start.databaseId()), RingLayout.HEADER);
      made.write(0, MemorySegment.ofArray(page)); // whole, so that nothing else is written to it
      made.force();
      made.preallocate(RingLayout.HEADER, RingLayout.fileSize(capacity));
      return mapped(made, capacity, arena);
    }
  }

  /** A file system can refuse to map a file though Java knows how to ask it for that. */
  private static @Nullable MemorySegment mapped(StorageFile made, int capacity, Arena arena) {
    try {
      return made.map(RingLayout.HEADER, capacity, arena);
    } catch (StorageIOException refused) {
      @Nullable Throwable failure = refused.getCause();
      if (failure != null && failure.getCause() instanceof OutOfMemoryError) {
        throw refused; // the process has too many mappings, or no address space, at the moment
      }
      return null;
    }
  }

  private static void giveUp(Arena arena, Path unfinished, Throwable failed) {
    try {
      arena.close(); // first: some systems do not delete a file that is mapped
      Directories.delete(unfinished);
    } catch (RuntimeException second) {
      failed.addSuppressed(second);
    }
  }

  MemorySegment ring() {
    return ring;
  }

  /** Unmaps the ring. A thread that stores into it afterwards gets an IllegalStateException. */
  void unmap() {
    arena.close();
  }

  /** Deletes the file, which is unmapped, and in which nothing is needed any more. */
  void delete() {
    try {
      options.ownership().checkFile(file);
      options.ownership().forget(file);
      Directories.delete(file);
    } catch (FileException stays) {
      // Nothing depends on that: the end of this life is named, so no restart reads the file, and
      // the next life deletes it.
    }
  }
}
