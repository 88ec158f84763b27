package org.revenantdb.engine.buffer;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory for pages of one open database, counted together with that of all others of this
 * process. So the default size leaves room for the pools that exist already.
 *
 * <p>Threads: any.
 */
public final class PoolShare implements AutoCloseable {
  private static final long MIB = 1L << 20;

  /** The size of a pool where nothing limits this process: it shares the machine with others. */
  private static final long UNLIMITED = 128 * MIB;

  private static final long LEAST = 32 * MIB;

  /** A larger pool needs a decision: its table takes heap, and it may have more changed pages. */
  private static final long MOST = 1024 * MIB;

  /** One part of the limit is for the JVM, outside of its heap. */
  private static final int JVM_PART = 16;

  private static final AtomicLong TAKEN = new AtomicLong();

  private final long bytes;

  private PoolShare(long bytes) {
    this.bytes = bytes;
  }

  /**
   * Takes a share.
   *
   * @param wanted bytes; 0: as many as are a good size here
   * @return the share, which is given back by its close
   */
  public static PoolShare take(long wanted) {
    while (true) {
      long taken = TAKEN.get();
      long bytes =
          wanted != 0
              ? wanted
              : goodSize(MachineMemory.limit(), Runtime.getRuntime().maxMemory(), taken);
      if (TAKEN.compareAndSet(taken, taken + bytes)) {
        return new PoolShare(bytes);
      }
    }
  }

  /**
   * Three quarters of what the limit leaves beside the heap, the JVM and other pools. So all pools
   * of this size together stay below the limit, however many there are.
   *
   * @param limit of the control group, {@link MachineMemory#UNKNOWN} if there is none
   * @param heap its greatest size
   * @param taken bytes of other pools
   */
  static long goodSize(long limit, long heap, long taken) {
    if (limit == MachineMemory.UNKNOWN) {
      return UNLIMITED;
    }
    long left = Math.max(0, limit - heap - limit / JVM_PART - taken);
    return Math.clamp(left / 4 * 3 / MIB * MIB, LEAST, MOST);
  }

  /**
   * Returns the size.
   *
   * @return bytes
   */
  public long bytes() {
    return bytes;
  }

  @Override
  public void close() {
    TAKEN.addAndGet(-bytes);
  }
}
