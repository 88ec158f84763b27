package org.revenantdb.engine.overflow;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.recovery.file.DamagedFileException;

/**
 * Reads a large value from its pages, one page latched at a time.
 *
 * <p>The value cannot be freed while the reader's snapshot is open. Every read goes through a guard
 * of the transaction, which refuses the read after the transaction has ended. Not thread-safe.
 */
public final class OverflowInput extends InputStream {
  /** Runs a read while the transaction is open and in use by this thread. */
  @FunctionalInterface
  public interface Guard {
    /** Runs it. */
    int read(Supplier<Integer> action);
  }

  /** Data pages of the longest value. */
  private static final long MAX_PAGES = ValueReference.MAX_LENGTH / OverflowPage.CAPACITY + 1;

  private final BufferPool pool;
  private final Guard guard;
  private long remaining;
  private int page;

  /** The slot of a value that shares its page; its offset there may change between two reads. */
  private final int slot;

  /**
   * The offset of the next byte: on the page, or, for a value that shares its page, in the value.
   */
  private int offset = OverflowPage.DATA;

  private int available;
  private int[] ids = new int[0];
  private int nextId;
  private int nextIndex;

  /** Only for a value with its own pages. */
  private @Nullable ValueChain chain;

  private int pagesRead;

  /**
   * Makes a stream over a value.
   *
   * @param value the reference to it
   */
  public OverflowInput(BufferPool pool, Guard guard, ValueReference value) {
    this.pool = pool;
    this.guard = guard;
    this.remaining = value.length();
    this.page = value.page();
    this.slot = value.slot();
    int frame = pool.fixShared(page);
    try {
      MemorySegment bytes = pool.page(frame);
      if (!value.leadsToValue(bytes) || value.lengthOn(bytes) != value.length()) {
        throw pool.damage(
            page,
            value.place()
                + " has no value of "
                + value.length()
                + " bytes, but a row refers to it");
      }
      if (value.isShared()) {
        available = SharedValues.length(bytes, slot);
        offset = 0;
      } else {
        chain = new ValueChain(pool, bytes);
        available = OverflowPage.inline(bytes);
        takeIds(bytes);
      }
    } finally {
      pool.unfixShared(frame);
    }
    if (chain != null) {
      demandLength(chain, value.length() - available);
    }
  }

  /**
   * Demands that the number of pages matches the length, before anything of that size is allocated.
   */
  private void demandLength(ValueChain owner, long bytes) {
    long pages = ids.length;
    for (int index = nextIndex; index != 0; ) {
      int frame = owner.fixShared(index, Page.OVERFLOW_INDEX, Math.toIntExact(pages));
      try {
        int count = OverflowPage.count(pool.page(frame));
        if (count == 0 || pages + count > MAX_PAGES) {
          throw wrongLength(index, pages);
        }
        pages += count;
        index = OverflowPage.nextIndex(pool.page(frame));
      } finally {
        pool.unfixShared(frame);
      }
    }
    if (pages != (bytes + OverflowPage.CAPACITY - 1) / OverflowPage.CAPACITY) {
      throw wrongLength(page, pages);
    }
  }

  private DamagedFileException wrongLength(int at, long pages) {
    return pool.damage(
        at,
        "the large value at page %d should continue for %d bytes, but exactly %d data pages follow"
            .formatted(page, remaining - available, pages));
  }

  private void takeIds(MemorySegment bytes) {
    ids = new int[OverflowPage.count(bytes)];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = OverflowPage.id(bytes, i);
    }
    nextId = 0;
    nextIndex = OverflowPage.nextIndex(bytes);
  }

  /** The number of bytes that have not been read yet. */
  public long remaining() {
    return remaining;
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] target, int from, int count) {
    Objects.checkFromIndexSize(from, count, target.length);
    if (count == 0) {
      return 0;
    }
    if (remaining == 0) {
      return -1;
    }
    return guard.read(() -> readPages(target, from, count));
  }

  /** Reads without the guard, for callers that are already inside it. */
  public int readPages(byte[] target, int from, int count) {
    int done = 0;
    while (done < count && remaining > 0) {
      if (available == 0) {
        nextPage();
      }
      int n = (int) Math.min(Math.min(available, count - done), remaining);
      int frame = pool.fixShared(page);
      try {
        MemorySegment bytes = pool.page(frame);
        int at = slot == ValueReference.WHOLE ? offset : offset + SharedValues.offset(bytes, slot);
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, target, from + done, n);
      } finally {
        pool.unfixShared(frame);
      }
      offset += n;
      available -= n;
      remaining -= n;
      done += n;
    }
    return done;
  }

  private void nextPage() {
    ValueChain owner = chain;
    if (owner == null) {
      throw wrongLength(page, 0);
    }
    if (nextId == ids.length) {
      if (nextIndex == 0) {
        throw wrongLength(page, pagesRead);
      }
      int frame = owner.fixShared(nextIndex, Page.OVERFLOW_INDEX, pagesRead);
      try {
        takeIds(pool.page(frame));
      } finally {
        pool.unfixShared(frame);
      }
      if (ids.length == 0) {
        throw wrongLength(page, pagesRead);
      }
    }
    page = ids[nextId++];
    offset = OverflowPage.DATA;
    int frame = owner.fixShared(page, Page.OVERFLOW_DATA, pagesRead);
    try {
      available = OverflowPage.count(pool.page(frame));
    } finally {
      pool.unfixShared(frame);
    }
    pagesRead++;
  }

  @Override
  public int available() {
    return (int) Math.min(available, remaining);
  }
}
