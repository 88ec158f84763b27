package org.revenantdb.kafka.streams;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Restored changes of a store in a file: runs, each of which is sorted (README.md, §60). The file
 * is there while there are runs.
 *
 * <p>Threads: one at a time.
 */
final class RestoredRuns {
  private static final String FILE = "restoring";
  private static final int BLOCK = 1 << 16;

  private final Path path;

  /** Where each run ends. */
  private final List<Long> ends = new ArrayList<>();

  private @Nullable FileChannel file;

  private byte[] block = {};

  RestoredRuns(Path storeDirectory) {
    this.path = storeDirectory.resolve(FILE);
  }

  /** Deletes what an earlier process has left. */
  static void deleteLeft(Path storeDirectory) {
    delete(storeDirectory.resolve(FILE));
  }

  private static void delete(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException stays) {
      // No process reads it, and the next restoration writes over it.
    }
  }

  boolean isEmpty() {
    return ends.isEmpty();
  }

  /** The number of runs. */
  int count() {
    return ends.size();
  }

  private long end() {
    return ends.isEmpty() ? 0 : ends.getLast();
  }

  /** Adds a run. After a failure there is nothing of it. */
  void add(SortedChanges changes) throws IOException {
    FileChannel to = file;
    if (to == null) {
      to =
          FileChannel.open(
              path,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      file = to;
      block = new byte[BLOCK];
    }
    long end = end();
    int filled = 0;
    while (changes.next()) {
      int length = changes.length();
      if (filled + length > BLOCK) {
        end = write(to, end, block, 0, filled);
        filled = 0;
      }
      if (length > BLOCK) {
        end = write(to, end, changes.bytes, changes.start, length);
      } else {
        System.arraycopy(changes.bytes, changes.start, block, filled, length);
        filled += length;
      }
    }
    ends.add(write(to, end, block, 0, filled));
  }

  /** Returns where it ends. */
  private static long write(FileChannel to, long position, byte[] bytes, int offset, int length)
      throws IOException {
    ByteBuffer left = ByteBuffer.wrap(bytes, offset, length);
    long at = position;
    while (left.hasRemaining()) {
      at += to.write(left, at);
    }
    return at;
  }

  /** The changes of each run, the oldest first. They are read together, before the next run. */
  List<SortedChanges> read() {
    List<SortedChanges> runs = new ArrayList<>();
    FileChannel from = file;
    long start = 0;
    for (long end : ends) {
      if (from != null && end > start) {
        runs.add(new Run(from, path, start, end));
      }
      start = end;
    }
    return runs;
  }

  /** Forgets all runs. */
  void clear() {
    ends.clear();
    block = new byte[0];
    FileChannel closed = file;
    if (closed != null) {
      file = null;
      try {
        closed.close();
      } catch (IOException failed) {
        // nothing of it is used any more
      }
      delete(path);
    }
  }

  /** The file, for messages. */
  @Override
  public String toString() {
    return path.toString();
  }

  private static final class Run extends SortedChanges {
    private final FileChannel file;
    private final Path path;

    /** Where the part of the run is that is not read yet. */
    private long unread;

    private final long end;

    private byte[] block = new byte[BLOCK];

    /** Where the bytes in the block end, and where those behind the current change begin. */
    private int filled;

    private int after;

    Run(FileChannel file, Path path, long start, long end) {
      this.file = file;
      this.path = path;
      this.unread = start;
      this.end = end;
    }

    @Override
    boolean next() throws IOException {
      if (filled - after < HEADER && !fill(HEADER)) {
        return false;
      }
      int length = length(keyLength(block, after), valueLength(block, after));
      if (filled - after < length && !fill(length)) {
        throw new EOFException("a run in " + path + " ends within a change");
      }
      at(block, after, beginning(block, after + HEADER, keyLength(block, after)));
      after += length;
      return true;
    }

    /** Reads more, so that as many bytes are there; false if the run has none. */
    private boolean fill(int needed) throws IOException {
      int rest = filled - after;
      if (rest == 0 && unread == end) {
        return false;
      }
      byte[] from = block;
      if (needed > block.length) {
        block = Arrays.copyOf(block, needed);
      }
      System.arraycopy(from, after, block, 0, rest);
      int read = (int) Math.min(block.length - rest, end - unread);
      ByteBuffer missing = ByteBuffer.wrap(block, rest, read);
      while (missing.hasRemaining()) {
        int more = file.read(missing, unread);
        if (more < 0) {
          throw new EOFException("the file " + path + " ends within a run");
        }
        unread += more;
      }
      filled = rest + read;
      after = 0;
      if (filled < needed) {
        throw new EOFException("a run in " + path + " ends within a change");
      }
      return true;
    }
  }
}
