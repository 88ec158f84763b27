package org.revenantdb.engine.overflow;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.function.Supplier;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.ValueReference;

/**
 * Reads a large value from its pages, one page latched at a time.
 *
 * <p>The value cannot be freed while the reader's snapshot is open. Every read goes through a guard
 * of the transaction, which refuses when the transaction has ended. Not thread-safe.
 */
public final class OverflowInput extends InputStream {
  /** Runs a read while the transaction is open and in use by this thread. */
  @FunctionalInterface
  public interface Guard {
    /** Runs it. */
    int read(Supplier<Integer> action);
  }

  private final BufferPool pool;
  private final Guard guard;
  private long remaining;
  private int page;

  /** Of a value that shares its page; its offset there may change between two reads. */
  private final int slot;

  /** Of the next byte, on the page or, of a value that shares its page, in the value. */
  private int offset = OverflowPage.DATA;

  private int available;
  private int[] ids = new int[0];
  private int nextId;
  private int nextIndex;

  /**
   * A stream over a value.
   *
   * @param value what leads to it
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
        throw new IllegalStateException(
            value.place() + " has no value of " + value.length() + " bytes; run the check command");
      }
      if (value.isShared()) {
        available = SharedValues.length(bytes, slot);
        offset = 0;
      } else {
        available = OverflowPage.inline(bytes);
        takeIds(bytes);
      }
    } finally {
      pool.unfixShared(frame);
    }
  }

  private void takeIds(MemorySegment bytes) {
    ids = new int[OverflowPage.count(bytes)];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = OverflowPage.id(bytes, i);
    }
    nextId = 0;
    nextIndex = OverflowPage.nextIndex(bytes);
  }

  /** Bytes not read yet. */
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

  /** Reads without the guard: for callers that are inside it already. */
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
    if (nextId == ids.length) {
      int index = nextIndex;
      if (index == 0) {
        throw new IllegalStateException(
            "a value ends " + remaining + " bytes early; run the check command");
      }
      int frame = pool.fixShared(index);
      try {
        takeIds(pool.page(frame));
      } finally {
        pool.unfixShared(frame);
      }
      nextPage();
      return;
    }
    page = ids[nextId++];
    offset = OverflowPage.DATA;
    int frame = pool.fixShared(page);
    try {
      available = OverflowPage.count(pool.page(frame));
    } finally {
      pool.unfixShared(frame);
    }
  }

  @Override
  public int available() {
    return (int) Math.min(available, remaining);
  }
}
