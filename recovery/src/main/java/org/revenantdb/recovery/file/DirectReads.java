package org.revenantdb.recovery.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Reads of a file beside the cache of the system, from the disk into the memory of the caller. Each
 * read is an attempt: if it is not possible, the caller reads in the ordinary way.
 *
 * <p>Ordinary writes and these reads of one file agree: before such a read the system writes what
 * its cache has changed in that part of the file. Only bytes whose force has failed can differ. The
 * engine does not read them after that (R6).
 *
 * <p>Threads: one at a time.
 */
final class DirectReads implements AutoCloseable {
  /*
   * State       channel: open, or null. An interrupt of the reading thread closes a channel. It is opened again by the
   *             next read, so an interrupt costs one ordinary read. After any other failure it stays null: the file
   *             system does not offer this, or the disk has failed, and then the ordinary read reports it.
   */

  /** Memory, position and length must be multiples of the block of the file system. */
  private static final int ALIGNMENT = 4096;

  /** Not of all JDKs, and of a module that an application may leave out; null if absent. */
  private static final @Nullable OpenOption DIRECT =
      named("com.sun.nio.file.ExtendedOpenOption", "DIRECT");

  private final Path path;
  private @Nullable FileChannel channel;
  private boolean refused;

  private DirectReads(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /** Opens a file for them; null if this is not possible. */
  static @Nullable DirectReads open(Path path) {
    FileChannel channel = tryOpen(path);
    return channel == null ? null : new DirectReads(path, channel);
  }

  private static @Nullable OpenOption named(String type, String name) {
    try {
      Object[] constants = Class.forName(type).getEnumConstants();
      for (Object constant : constants == null ? new Object[0] : constants) {
        if (constant instanceof OpenOption option && constant.toString().equals(name)) {
          return option;
        }
      }
      return null;
    } catch (ClassNotFoundException | LinkageError absent) {
      return null;
    }
  }

  private static @Nullable FileChannel tryOpen(Path path) {
    OpenOption direct = DIRECT;
    if (direct == null) {
      return null;
    }
    try {
      return FileChannel.open(path, StandardOpenOption.READ, direct);
    } catch (IOException | UnsupportedOperationException notOffered) {
      return null;
    }
  }

  /** Fills a segment from the file; false if that was not possible here. */
  boolean read(long position, MemorySegment target) {
    long size = target.byteSize();
    if (!target.isNative()
        || ((target.address() | position | size) & (ALIGNMENT - 1)) != 0
        || Thread.currentThread().isInterrupted()) {
      return false;
    }
    if (channel == null) {
      if (refused) {
        return false;
      }
      channel = tryOpen(path);
    }
    FileChannel reading = channel;
    if (reading == null) {
      refused = true;
      return false;
    }
    try {
      return reading.read(target.asByteBuffer(), position) == size;
    } catch (ClosedChannelException interrupted) {
      channel = null;
      return false;
    } catch (IOException notOffered) {
      refused = true;
      close();
      return false;
    }
  }

  /** For tests: the next read finds its channel closed. */
  void closeAsAnInterruptDoes() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }

  @Override
  public void close() {
    FileChannel open = channel;
    channel = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException onlyRead) {
        // nothing was written through it
      }
    }
  }
}
