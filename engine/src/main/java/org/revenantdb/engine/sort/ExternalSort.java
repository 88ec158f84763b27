package org.revenantdb.engine.sort;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sorts changes of rows by their keys, in bounded memory and in spill files of the database
 * (README.md, §61). Of each key the last change counts.
 *
 * <p>Failure: a {@link org.revenantdb.recovery.file.FileException}. What was added before is still
 * there.
 *
 * <p>Threads: one at a time.
 */
public final class ExternalSort {
  /** Runs that are merged at once, however much memory there is. */
  private static final int MOST_AT_ONCE = 1024;

  /** A value of more than this part of the memory does not come to memory. */
  private static final int SHARE_OF_A_VALUE = 16;

  /** A value of more bytes is written to the file for large values before a run is. */
  private static final int LARGE = SortedRuns.BLOCK / 4;

  /** Runs steps that touch files. */
  public interface Steps {
    /** Runs a step while the database is open. */
    <T extends @Nullable Object> T run(Supplier<T> step);
  }

  /** Receives how far the sort is, between its steps. */
  public interface Listener {
    /**
     * Called when bytes were written to a file.
     *
     * @param bytes how many
     * @param isMerge whether they are runs that were merged
     */
    void written(long bytes, boolean isMerge);
  }

  private final long memory;
  private final GatheredChanges gathered = new GatheredChanges();
  private final SortedRuns runs;
  private final LargeValues large;
  private final Listener listener;
  private long added;

  /**
   * Makes an empty sort, without files.
   *
   * @param memory bytes of the heap; a merge takes at least 384 KiB
   */
  public ExternalSort(SortFiles files, long memory, Listener listener) {
    this.memory = memory;
    this.runs = new SortedRuns(files);
    this.large = new LargeValues(files);
    this.listener = listener;
  }

  /**
   * Adds a change if it needs nothing but memory.
   *
   * @param value null for a deletion
   * @return false if {@link #add} has to be called
   */
  public boolean addToMemory(byte[] key, byte @Nullable [] value) {
    int length = value == null ? SortedChanges.DELETED : value.length;
    if (isTooLarge(length) || gathered.memoryWith(key.length, length) > memory) {
      return false;
    }
    gathered.add(key, value);
    added++;
    return true;
  }

  /** Whether a value does not come to memory. */
  private boolean isTooLarge(long length) {
    return length > memory / SHARE_OF_A_VALUE;
  }

  /**
   * Adds a change. It may write a run.
   *
   * @param value null for a deletion
   */
  public void add(byte[] key, byte @Nullable [] value) {
    if (value != null && isTooLarge(value.length)) {
      makeRoomBeside(key);
      long before = large.bytes();
      addBeside(key, large.write(value, 0, value.length), value.length, before);
    } else if (!addToMemory(key, value)) {
      spill();
      gathered.add(key, value);
      added++;
    }
  }

  /**
   * Adds a change whose value is a stream. The value is in the file before the next change is
   * added.
   *
   * @param first the first bytes
   * @param rest what follows
   * @throws IOException if the stream throws; then nothing is added
   */
  public void add(byte[] key, byte[] first, InputStream rest) throws IOException {
    makeRoomBeside(key);
    long before = large.bytes();
    LargeValues.Place place = large.write(first, rest);
    addBeside(key, place.position(), place.length(), before);
  }

  /** Before the value is written, so that a failure leaves nothing of it. */
  private void makeRoomBeside(byte[] key) {
    if (gathered.memoryWith(key.length, SortedChanges.BESIDE) > memory) {
      spill();
    }
  }

  private void addBeside(byte[] key, long position, long length, long bytesBefore) {
    gathered.addBeside(key, position, length);
    added++;
    listener.written(large.bytes() - bytesBefore, /* isMerge= */ false);
  }

  /** Writes what is in memory as a run. After a failure it is still in memory. */
  public void spill() {
    if (!gathered.isEmpty()) {
      long before = large.bytes();
      long bytes;
      boolean isDone = false;
      try {
        bytes = runs.add(new WithLargeBeside(gathered.sorted(), large));
        isDone = true;
      } finally {
        if (!isDone) {
          large.cut(before);
        }
      }
      gathered.clear();
      listener.written(bytes + large.bytes() - before, /* isMerge= */ false);
    }
  }

  /** How many changes were added. */
  public long added() {
    return added;
  }

  /** Bytes of the changes in memory, and of what their order needs. */
  public long memory() {
    return gathered.memory();
  }

  /** Bytes in the files that are still needed. */
  public long fileBytes() {
    return runs.bytes() + large.bytes();
  }

  /** The number of runs. */
  public int runs() {
    return runs.count();
  }

  /**
   * The last change of each key, in the order of the keys. They are read before another one is
   * added. May be called again, even after a failure.
   */
  public SortedChanges sorted() {
    if (runs.isEmpty()) {
      return gathered.sorted();
    }
    spill(); // the merge has the memory
    runs.mergeTo(mostAtOnce(), written -> listener.written(written, /* isMerge= */ true));
    return SortedChanges.merged(runs.read());
  }

  /** How many runs can be merged at once: each has a block in memory, the output has several. */
  private int mostAtOnce() {
    long blocks = (memory - SortedRuns.WRITTEN_TOGETHER) / SortedRuns.BLOCK;
    return Math.clamp(blocks, 2, MOST_AT_ONCE);
  }

  /** The value of the current change, which is {@linkplain SortedChanges#isBeside elsewhere}. */
  public InputStream valueOf(SortedChanges current) {
    return large.read(current.placeOfValue(), current.lengthBeside());
  }

  /** Changes whose large values go to a file of their own, so that no merge copies them. */
  private static final class WithLargeBeside extends SortedChanges {
    private static final byte[] NOTHING = {};

    private final SortedChanges changes;
    private final LargeValues large;
    private byte[] room = NOTHING;

    WithLargeBeside(SortedChanges changes, LargeValues large) {
      this.changes = changes;
      this.large = large;
    }

    @Override
    public boolean next() {
      if (!changes.next()) {
        return false;
      }
      if (changes.valueLength <= LARGE) {
        at(changes.bytes, changes.start, changes.beginning);
        return true;
      }
      long position = large.write(changes.bytes, changes.valueStart(), changes.valueLength);
      int length = length(changes.keyLength, BESIDE);
      if (room.length < length) {
        room = new byte[length];
      }
      putHeader(room, 0, changes.keyLength, BESIDE);
      System.arraycopy(changes.bytes, changes.keyStart(), room, HEADER, changes.keyLength);
      putPlace(room, HEADER + changes.keyLength, position, changes.valueLength);
      at(room, 0, changes.beginning);
      return true;
    }
  }
}
