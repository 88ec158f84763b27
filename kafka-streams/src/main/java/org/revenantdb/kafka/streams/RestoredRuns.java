package org.revenantdb.kafka.streams;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Restored changes of a store in a file: runs, each of which is sorted (README.md, §60). The file
 * is there while there are runs. It is open only while a run is written or the runs are read.
 *
 * <p>Threads: one at a time.
 */
final class RestoredRuns {
  /*
   * A run is a sequence of blocks. A block has whole changes, and is at most BLOCK bytes long, or has one change that
   * is larger. Where the blocks are and what they must have is known in memory alone.
   */
  private static final String FILE = "restoring";
  private static final int BLOCK = 1 << 16;

  /** A merge has a block of each run in memory: of so many bytes together. */
  private static final long MOST_IN_MEMORY = 64L * BLOCK;

  private final Path path;
  private final List<Run> runs = new ArrayList<>();

  /** Where the last run ends. */
  private long end;

  /** What a merge of all runs takes of the memory. */
  private long inMemory;

  /** A run in the file. */
  private record Run(long start, List<Block> blocks) {}

  /** A part of a run that is read at once. The file is never forced, so it may have other bytes. */
  private record Block(int length, int checksum) {}

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
    return runs.isEmpty();
  }

  /** The number of runs. */
  int count() {
    return runs.size();
  }

  /** Bytes of the file. */
  long bytes() {
    return end;
  }

  /**
   * Whether the runs and one more can still be merged in little memory.
   *
   * @param largest bytes of the largest change of the run
   */
  boolean hasRoomFor(int largest) {
    return inMemory + inMemory(largest) <= MOST_IN_MEMORY;
  }

  private static long inMemory(int largest) {
    return largest > BLOCK ? (long) BLOCK + largest : BLOCK;
  }

  /** Adds a run. After a failure there is nothing of it. */
  void add(SortedChanges changes) throws IOException {
    Run run = new Run(end, new ArrayList<>());
    Writer writer = new Writer(run);
    boolean isDone = false;
    try {
      try (FileChannel file = FileChannel.open(path, toWrite())) {
        writer.write(file, changes);
      }
      runs.add(run);
      end = writer.at;
      inMemory += inMemory(writer.largest);
      isDone = true;
    } finally {
      if (!isDone) {
        cut();
      }
    }
  }

  /** Only the first run makes the file. If it is lost later, its runs are. */
  private OpenOption[] toWrite() {
    return runs.isEmpty()
        ? new OpenOption[] {
          StandardOpenOption.WRITE, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING
        }
        : new OpenOption[] {StandardOpenOption.WRITE};
  }

  /** Gives the space behind the last run back: the disk may be full. */
  private void cut() {
    if (runs.isEmpty()) {
      delete(path);
      return;
    }
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(end);
    } catch (IOException stays) {
      // The next run is written over it.
    }
  }

  /** Opens the file for a merge: there are runs. */
  FileChannel open() throws IOException {
    return FileChannel.open(path, StandardOpenOption.READ);
  }

  /** The changes of each run, the oldest first. They are read together, before the next run. */
  List<SortedChanges> read(FileChannel file) {
    List<SortedChanges> all = new ArrayList<>();
    for (Run run : runs) {
      all.add(new Reader(run, file, path));
    }
    return all;
  }

  /** Forgets all runs. */
  void clear() {
    if (!runs.isEmpty()) {
      runs.clear();
      end = 0;
      inMemory = 0;
      delete(path);
    }
  }

  /** The file, for messages. */
  @Override
  public String toString() {
    return path.toString();
  }

  private static int checksum(byte[] bytes, int offset, int length) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, offset, length);
    return (int) checksum.getValue();
  }

  private static final class Writer {
    private final Run run;

    /** Where the next block begins. */
    private long at;

    private int largest;

    Writer(Run run) {
      this.run = run;
      this.at = run.start;
    }

    void write(FileChannel file, SortedChanges changes) throws IOException {
      byte[] block = new byte[BLOCK];
      int filled = 0;
      while (changes.next()) {
        int length = changes.length();
        largest = Math.max(largest, length);
        if (filled + length > BLOCK) {
          write(file, block, 0, filled);
          filled = 0;
        }
        if (length > BLOCK) {
          write(file, changes.bytes, changes.start, length);
        } else {
          System.arraycopy(changes.bytes, changes.start, block, filled, length);
          filled += length;
        }
      }
      write(file, block, 0, filled);
    }

    private void write(FileChannel file, byte[] bytes, int offset, int length) throws IOException {
      if (length == 0) {
        return;
      }
      ByteBuffer left = ByteBuffer.wrap(bytes, offset, length);
      while (left.hasRemaining()) {
        at += file.write(left, at);
      }
      run.blocks.add(new Block(length, checksum(bytes, offset, length)));
    }
  }

  private static final class Reader extends SortedChanges {
    private final Run run;
    private final FileChannel file;
    private final Path path;

    /** The next block, and where it begins. */
    private int nextBlock;

    private long unread;

    /** For blocks of the usual size. */
    private byte[] room = {};

    /** The current block, its end, and where the changes behind the current one begin. */
    private byte[] block = room;

    private int end;
    private int after;

    Reader(Run run, FileChannel file, Path path) {
      this.run = run;
      this.file = file;
      this.path = path;
      this.unread = run.start;
    }

    @Override
    boolean next() throws IOException {
      if (after == end) {
        if (nextBlock == run.blocks.size()) {
          return false;
        }
        read(run.blocks.get(nextBlock));
        nextBlock++;
      }
      int keyLength = keyLength(block, after);
      at(block, after, beginning(block, after + HEADER, keyLength));
      after += length();
      return true;
    }

    private void read(Block next) throws IOException {
      block = roomFor(next.length);
      ByteBuffer missing = ByteBuffer.wrap(block, 0, next.length);
      long start = unread;
      while (missing.hasRemaining()) {
        int more = file.read(missing, unread);
        if (more < 0) {
          throw new EOFException("the file " + path + " ends within a run");
        }
        unread += more;
      }
      if (checksum(block, 0, next.length) != next.checksum) {
        throw new IOException(
            "the file "
                + path
                + " has other bytes than were written, in the "
                + next.length
                + " from "
                + start
                + " on");
      }
      end = next.length;
      after = 0;
    }

    /** A large change has an array of its own, which is not kept. */
    private byte[] roomFor(int length) {
      if (length > BLOCK) {
        return new byte[length];
      }
      if (length > room.length) {
        // The block of a small run is its only one, so no larger one follows.
        room = new byte[run.blocks.size() == 1 ? length : BLOCK];
      }
      return room;
    }
  }
}
