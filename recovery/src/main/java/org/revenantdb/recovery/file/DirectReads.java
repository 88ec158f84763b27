package org.revenantdb.recovery.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Reads of a file beside the cache of the system ({@code O_DIRECT}). Each read is an attempt: if it
 * is not possible, the caller reads through the cache.
 *
 * <p>The file is opened once and never again by its name, because the name can lead to another file
 * later. A {@link java.nio.channels.FileChannel} would be closed by an interrupt of the reading
 * thread. The stream that the JDK makes of such a channel is not.
 *
 * <p>Writes through the cache and these reads agree, as far as the system keeps its promise: before
 * such a read it writes what its cache has changed in that part of the file. A read that meets a
 * write of the same bytes can see a part of it, as any read can.
 *
 * <p>Threads: one at a time.
 */
final class DirectReads implements AutoCloseable {
  /*
   * State       stream: open, or null for ever. It is given up after a failure: the file system does not offer this, its
   *             blocks are larger than a read, or the disk has failed. Then the read through the cache reports it.
   *
   * Position    at: where the stream is; UNKNOWN during a read, so also after one that an error has ended. The file can
   *             have become shorter, so a skip can end before its goal.
   */

  /**
   * Position and length must be multiples of the block of the file system. The JDK checks that; it
   * copies through memory of the right alignment.
   */
  private static final int ALIGNMENT = 4096;

  /**
   * The option that the JDK has for this. It is in the module {@code jdk.unsupported}, which an
   * application may leave out, and for a compiler it is internal.
   */
  private static final String TYPE = "com.sun.nio.file.ExtendedOpenOption";

  private static final String NAME = "DIRECT";

  private static final long UNKNOWN = -1;

  private @Nullable InputStream stream;
  private long at;

  private DirectReads(InputStream stream) {
    this.stream = stream;
  }

  /**
   * Opens a file for them.
   *
   * @return null if this is not possible
   */
  static @Nullable DirectReads open(Path path) {
    try {
      OpenOption direct = option();
      return direct == null
          ? null
          : new DirectReads(Files.newInputStream(path, StandardOpenOption.READ, direct));
    } catch (IOException
        | UnsupportedOperationException
        | ReflectiveOperationException
        | LinkageError notOffered) {
      return null;
    }
  }

  private static @Nullable OpenOption option() throws ReflectiveOperationException {
    Object[] constants = Class.forName(TYPE).getEnumConstants();
    for (Object constant : constants == null ? new Object[0] : constants) {
      if (constant instanceof OpenOption option && constant.toString().equals(NAME)) {
        return option;
      }
    }
    return null;
  }

  /**
   * Reads whole blocks.
   *
   * @param target receives the bytes, at its beginning
   * @return whether all of them were read; otherwise the target can have any bytes
   */
  boolean read(long position, byte[] target, int size) {
    InputStream reading = stream;
    if (reading == null || ((position | size) & (ALIGNMENT - 1)) != 0) {
      return false;
    }
    long was = at;
    at = UNKNOWN;
    if (was == UNKNOWN) {
      close();
      return false;
    }
    try {
      long now = was == position ? was : was + reading.skip(position - was);
      int n = now == position ? reading.read(target, 0, size) : 0;
      at = now + Math.max(0, n);
      return n == size;
    } catch (IOException | OutOfMemoryError notHere) {
      // Memory: for the copy of the JDK. An ordinary read needs none outside of the heap.
      close();
      return false;
    }
  }

  @Override
  public void close() {
    InputStream open = stream;
    stream = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException onlyRead) {
        // nothing was written through it
      }
    }
  }
}
