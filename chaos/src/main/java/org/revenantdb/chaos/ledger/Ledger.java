package org.revenantdb.chaos.ledger;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The child's side of a ledger: its entries survive the death of the child process.
 *
 * <p>The file is mapped, so an entry is in the page cache as soon as it is stored, without a system
 * call. A ledger survives the process, but not the machine.
 *
 * <p>Threads: any.
 */
public final class Ledger implements AutoCloseable {

  /*
   * Atomicity  An entry's bytes are stored first, its length last with release, so a reader that
   *            sees the length sees the bytes. A process that is killed between the two has
   *            published nothing. All threads of a process die together and only one of them
   *            appends at a time. So at most the last entry is unpublished, and no whole entry
   *            follows a gap.
   * Order      is the order of the lock: an entry that was published before another one was begun
   *            comes before it.
   * Growth     One window of the file is mapped, which an entry does not leave. A mapping beyond
   *            the end of the file makes the file longer, by zeros.
   */

  private static final VarHandle LENGTH = ValueLayout.JAVA_INT.varHandle();

  private static final long WINDOW = 4 << 20;

  /** Windows begin at multiples of this: those of a page on every platform. */
  private static final long GRANULE = 64 << 10;

  private final Path file;
  private Arena arena = Arena.ofShared();
  private MemorySegment window;
  private long windowStart;
  private long end = LedgerLayout.FIRST;

  private Ledger(Path file) throws IOException {
    this.file = file;
    this.window = map(0, WINDOW, arena, StandardOpenOption.CREATE_NEW);
  }

  /**
   * Creates a ledger.
   *
   * @param file must not exist yet
   * @return the empty ledger
   * @throws IOException if the file cannot be created
   */
  public static Ledger create(Path file) throws IOException {
    Ledger ledger = new Ledger(file);
    ledger.window.set(ValueLayout.JAVA_LONG, 0, LedgerLayout.MAGIC);
    return ledger;
  }

  /**
   * Appends an entry. When this returns, the parent will read it.
   *
   * @param entry not empty
   * @throws UncheckedIOException if the file cannot be made longer; the entry is not there then
   */
  public synchronized void append(byte[] entry) {
    if (entry.length == 0) {
      throw new IllegalArgumentException(
          "an entry must not be empty: its length 0 would mean that no entry is there");
    }
    long next = LedgerLayout.next(end, entry.length);
    if (next > windowStart + window.byteSize()) {
      moveWindow(next);
    }
    long at = end - windowStart;
    MemorySegment.copy(
        entry, 0, window, ValueLayout.JAVA_BYTE, at + LedgerLayout.LENGTH, entry.length);
    LENGTH.setRelease(window, at, entry.length);
    end = next;
  }

  /** Maps the file from the end of the entries, at least up to {@code covered}. */
  private void moveWindow(long covered) {
    long start = end & -GRANULE;
    Arena fresh = Arena.ofShared();
    try {
      window = map(start, Math.max(WINDOW, covered - start), fresh, StandardOpenOption.READ);
    } catch (IOException e) {
      fresh.close();
      throw new UncheckedIOException("cannot make the ledger " + file + " longer", e);
    }
    windowStart = start;
    arena.close();
    arena = fresh;
  }

  /** Maps a part of the file. The subject may interrupt its threads, which closes a channel. */
  private MemorySegment map(long start, long length, Arena arena, StandardOpenOption option)
      throws IOException {
    boolean interrupted = false;
    StandardOpenOption opened = option;
    try {
      while (true) {
        interrupted |= Thread.interrupted();
        try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, opened)) {
          opened = StandardOpenOption.READ;
          return channel.map(FileChannel.MapMode.READ_WRITE, start, length, arena);
        } catch (ClosedByInterruptException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Unmaps the file. The file stays. */
  @Override
  public synchronized void close() {
    arena.close();
  }
}
