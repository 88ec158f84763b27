package org.revenantdb.chaos.ledger;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The parent's side of a ledger: reads entries while the child lives, and to the end after its
 * death.
 *
 * <p>Needs no library and no flag.
 *
 * <p>Threads: one.
 */
public final class LedgerReader implements AutoCloseable {

  private static final VarHandle LENGTH = ValueLayout.JAVA_INT.varHandle();

  private final Path file;
  private Arena arena = Arena.ofConfined();
  private MemorySegment mapped = MemorySegment.NULL;
  private long next = LedgerLayout.FIRST;
  private long count;

  private LedgerReader(Path file) {
    this.file = file;
  }

  /**
   * Creates a reader.
   *
   * @param file need not exist yet; until then there is nothing to read
   * @return a reader at the first entry
   */
  public static LedgerReader of(Path file) {
    return new LedgerReader(file);
  }

  /**
   * Returns the entries that were appended since the last call.
   *
   * @return whole entries, in their order
   * @throws IllegalStateException if the file is not a ledger
   */
  public List<byte[]> read() {
    List<byte[]> entries = new ArrayList<>();
    while (covers(LedgerLayout.next(next, 0))) {
      int length = (int) LENGTH.getAcquire(mapped, next);
      if (length == 0 || !covers(LedgerLayout.next(next, length))) {
        break;
      }
      long body = next + LedgerLayout.LENGTH;
      entries.add(mapped.asSlice(body, length).toArray(ValueLayout.JAVA_BYTE));
      next = LedgerLayout.next(next, length);
    }
    count += entries.size();
    return entries;
  }

  /**
   * Returns how many entries were read.
   *
   * @return the sum over all calls of {@link #read}
   */
  public long count() {
    return count;
  }

  /**
   * Whether the mapping covers a position. The file only grows, so a mapping that is too small is
   * replaced by one of the whole file.
   */
  private boolean covers(long end) {
    if (end <= mapped.byteSize()) {
      return true;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long size = channel.size();
      if (size < end) {
        return false;
      }
      Arena fresh = Arena.ofConfined();
      mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, fresh);
      arena.close();
      arena = fresh;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the ledger " + file, e);
    }
    long magic = mapped.get(ValueLayout.JAVA_LONG, 0);
    if (magic != LedgerLayout.MAGIC && magic != 0) {
      throw new IllegalStateException(file + " is not a ledger");
    }
    return true;
  }

  /** Unmaps the file. The file stays. */
  @Override
  public void close() {
    arena.close();
  }
}
