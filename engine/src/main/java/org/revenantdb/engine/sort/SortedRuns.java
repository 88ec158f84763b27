package org.revenantdb.engine.sort;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.spill.SpilledBlocks;

/**
 * Runs of sorted changes in files (README.md, §61). One file takes the runs as they are added. Each
 * pass of merges writes to a file of its own, and a file is deleted with its last run.
 *
 * <p>Threads: one at a time.
 */
final class SortedRuns {
  /** No block is larger. Each change fits in one. */
  static final int BLOCK = 1 << 16;

  /** Bytes of blocks that are written together. */
  static final int WRITTEN_TOGETHER = 4 * BLOCK;

  private static final int FIRST_LENGTHS = 16;

  private final SortFiles files;

  /** The oldest first. */
  private List<Run> runs = new ArrayList<>();

  /** The file that takes the next run; null if there is none. */
  private @Nullable SpilledBlocks adding;

  /** The empty file of a pass that has failed; null if there is none. */
  private @Nullable SpilledBlocks spare;

  SortedRuns(SortFiles files) {
    this.files = files;
  }

  /** A run: where it begins, and the length of each of its blocks. */
  private static final class Run {
    private final SpilledBlocks file;
    private final long start;
    private int[] lengths = new int[FIRST_LENGTHS];
    private int blocks;
    private long bytes;
    private long changes;

    Run(SpilledBlocks file) {
      this.file = file;
      this.start = file.end();
    }

    void add(int length, int entries) {
      if (blocks == lengths.length) {
        lengths = Arrays.copyOf(lengths, 2 * blocks);
      }
      lengths[blocks] = length;
      blocks++;
      bytes += length;
      changes += entries;
    }

    /** No block follows: gives back what the lengths do not need. */
    void end() {
      lengths = Arrays.copyOf(lengths, blocks);
    }
  }

  boolean isEmpty() {
    return runs.isEmpty();
  }

  /** The number of runs. */
  int count() {
    return runs.size();
  }

  /** Bytes of all runs. */
  long bytes() {
    long bytes = 0;
    for (Run run : runs) {
      bytes += run.bytes;
    }
    return bytes;
  }

  /** Changes in all runs. */
  long changes() {
    long changes = 0;
    for (Run run : runs) {
      changes += run.changes;
    }
    return changes;
  }

  /** Adds a run, and returns its bytes. After a failure there is nothing of it. */
  long add(SortedChanges changes) {
    SpilledBlocks file = adding;
    if (file == null) {
      file = files.create();
      adding = file;
    }
    Run run = write(changes, file, written -> {});
    runs.add(run);
    return run.bytes;
  }

  /**
   * Merges runs that follow one another, until at most so many are left.
   *
   * @param most at least two
   * @param merged receives the bytes of each piece that was written
   */
  void mergeTo(int most, LongConsumer merged) {
    while (runs.size() > most) {
      pass(most, merged);
    }
  }

  private void pass(int most, LongConsumer merged) {
    List<Run> before = runs;
    SpilledBlocks file = spare;
    if (file == null) {
      file = files.create();
      spare = file;
    }
    long start = file.end();
    List<Run> after = new ArrayList<>();
    boolean isDone = false;
    try {
      int next = 0;
      while (next < before.size()) {
        int tooMany = after.size() + before.size() - next - most;
        int end = Math.min(before.size(), next + Math.clamp(tooMany + 1L, 1, most));
        List<Run> part = before.subList(next, end);
        if (tooMany <= 0) {
          after.addAll(part);
        } else { // also a last one without others: the files before must not last another pass
          after.add(write(SortedChanges.merged(read(part)), file, merged));
        }
        next = end;
      }
      isDone = true;
    } finally {
      if (!isDone) {
        file.cut(start);
      }
    }
    runs = after;
    spare = null;
    adding = null; // the next run comes behind those that were merged
    Set<SpilledBlocks> unused = filesOf(before);
    unused.removeAll(filesOf(after));
    files.delete(unused);
  }

  private static Set<SpilledBlocks> filesOf(List<Run> of) {
    Set<SpilledBlocks> all = new HashSet<>();
    for (Run run : of) {
      all.add(run.file);
    }
    return all;
  }

  /** The changes of each run, the oldest first. They are read together, before the next run. */
  List<SortedChanges> read() {
    return read(runs);
  }

  private List<SortedChanges> read(List<Run> from) {
    List<SortedChanges> all = new ArrayList<>();
    for (Run run : from) {
      all.add(new Reader(run, files));
    }
    return all;
  }

  private Run write(SortedChanges changes, SpilledBlocks file, LongConsumer written) {
    Run run = new Run(file);
    boolean isDone = false;
    try {
      new Writer(run, files, written).write(changes);
      run.end();
      isDone = true;
    } finally {
      if (!isDone) {
        file.cut(run.start);
      }
    }
    return run;
  }

  private static final class Writer {
    private final Run run;
    private final SortFiles files;
    private final LongConsumer written;
    private final byte[] bytes = new byte[WRITTEN_TOGETHER];

    /** Where the array is free. */
    private int used = SpilledBlocks.HEADER;

    /** Where the current block begins in the array. */
    private int block;

    private int entries;

    Writer(Run run, SortFiles files, LongConsumer written) {
      this.run = run;
      this.files = files;
      this.written = written;
    }

    void write(SortedChanges changes) {
      while (changes.next()) {
        int length = changes.length();
        if (used + length - block > BLOCK) {
          endBlock();
        }
        System.arraycopy(changes.bytes, changes.start, bytes, used, length);
        used += length;
        entries++;
      }
      if (entries > 0) {
        endBlock();
      }
      append();
    }

    private void endBlock() {
      int length = used - block;
      run.file.seal(bytes, block, length, run.file.end() + block, entries);
      run.add(length, entries);
      entries = 0;
      block = used;
      if (bytes.length - block < BLOCK) {
        append();
      }
      used = block + SpilledBlocks.HEADER;
    }

    private void append() {
      int length = block;
      if (length > 0) {
        files.append(run.file, bytes, length);
        block = 0;
        written.accept(length);
      }
    }
  }

  private static final class Reader extends SortedChanges {
    private final Run run;
    private final SortFiles files;

    /** The next block, and where it begins. */
    private int nextBlock;

    private long unread;

    /** The current block, its end, and where the changes behind the current one begin. */
    private byte[] block = {};

    private int end;
    private int after;

    Reader(Run run, SortFiles files) {
      this.run = run;
      this.files = files;
      this.unread = run.start;
    }

    @Override
    public boolean next() {
      if (after == end && !read()) {
        return false;
      }
      int keyLength = keyLength(block, after);
      at(block, after, beginning(block, after + HEADER, keyLength));
      after += length();
      return true;
    }

    private boolean read() {
      if (nextBlock == run.blocks) {
        return false;
      }
      int length = run.lengths[nextBlock];
      if (length > block.length) {
        // The block of a small run is its only one, so no larger one follows.
        block = new byte[run.blocks == 1 ? length : BLOCK];
      }
      files.read(run.file, unread, block, length);
      nextBlock++;
      unread += length;
      after = SpilledBlocks.HEADER;
      end = length;
      return true;
    }
  }
}
