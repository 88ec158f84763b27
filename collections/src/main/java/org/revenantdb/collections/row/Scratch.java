package org.revenantdb.collections.row;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.engine.KeyBatch;

/**
 * Buffers of one call: what it writes, and the value that it reads.
 *
 * <p>A call takes one from the pool and gives it back. A codec that uses the table meanwhile takes
 * another one.
 */
public final class Scratch {
  /** A value longer than that is read into an array of its own. */
  private static final int VALUE = 4_096;

  private static final int KEPT = 64 << 10;
  private static final byte[] NOTHING = {};

  /** The most keys of a batch that is used again. */
  private static final int KEYS = 1_024;

  private final ByteWriter out = new ByteWriter();
  private final ByteReader in = new ByteReader(new byte[0]);
  private final byte[] value = new byte[VALUE];
  private @Nullable KeyBatch keys;

  private Scratch() {}

  /** An empty writer. */
  public ByteWriter out() {
    out.clear();
    return out;
  }

  /** A reader of the first bytes of an array. */
  public ByteReader in(byte[] bytes, int length) {
    return in.reset(bytes, length);
  }

  /** A reader of a part of an array. */
  public ByteReader in(byte[] bytes, int offset, int length) {
    return in.reset(bytes, offset, length);
  }

  /** A batch without keys. */
  public KeyBatch keys() {
    KeyBatch own = keys;
    if (own == null) {
      own = new KeyBatch();
      keys = own;
    }
    own.clear();
    return own;
  }

  /** Whether it is small enough to be used again. */
  private boolean isSmall() {
    KeyBatch own = keys;
    return out.capacity() <= KEPT && (own == null || own.size() <= KEYS);
  }

  /** Where a value is read to. */
  public byte[] value() {
    return value;
  }

  /** Those of a table. Threads that run at the same time mostly find different slots. */
  public static final class Pool {
    private static final int SPACING = 16; // slots of two threads are on different cache lines

    private final AtomicReferenceArray<@Nullable Scratch> slots;
    private final int mask;

    /** An empty pool. */
    public Pool() {
      int count = Integer.highestOneBit(Runtime.getRuntime().availableProcessors() * 4 - 1);
      mask = count - 1;
      slots = new AtomicReferenceArray<>(count * SPACING);
    }

    /** A buffer that no other thread has. */
    public Scratch take() {
      Scratch found = slots.getAndSet(slot(), null);
      return found == null ? new Scratch() : found;
    }

    /** It is not used any more. */
    public void give(Scratch scratch) {
      if (scratch.isSmall()) {
        scratch.in.reset(NOTHING, 0); // it may refer to a large value
        slots.setRelease(slot(), scratch);
      }
    }

    private int slot() {
      long id = Thread.currentThread().threadId();
      return ((int) (id ^ (id >>> 16)) & mask) * SPACING;
    }
  }
}
