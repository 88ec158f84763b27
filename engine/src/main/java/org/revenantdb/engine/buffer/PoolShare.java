package org.revenantdb.engine.buffer;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory for pages of one open database, counted together with that of all others of this
 * process. So the default size leaves room for the pools that exist already.
 *
 * <p>A share is a promise about sizes only. A pool takes memory when pages come, 4 MiB at a time,
 * and returns it at its close, except for some that the next pool uses ({@link Slabs}).
 *
 * <p>Threads: any.
 */
public final class PoolShare implements AutoCloseable {
  private static final long MIB = 1L << 20;

  /** The size of a pool where nothing limits this process: it shares the machine with others. */
  private static final long UNLIMITED = 128 * MIB;

  /** A smaller pool cannot hold the changed pages of a few transactions. */
  private static final long LEAST = 16 * MIB;

  /** A larger pool is for its user to decide: it may have more changed pages after a crash. */
  private static final long MOST = 1024 * MIB;

  /** One part of the limit is for the JVM outside of its heap, but not less than a JVM needs. */
  private static final int JVM_PART = 16;

  private static final long LEAST_FOR_JVM = 192 * MIB;

  /** A frame takes some 160 bytes of the heap when it has a page, a fiftieth of its own size. */
  private static final int POOL_PER_HEAP = 8;

  private static final AtomicLong TAKEN = new AtomicLong();

  private final long bytes;

  private PoolShare(long bytes) {
    this.bytes = bytes;
  }

  /**
   * Takes a share.
   *
   * @param wanted bytes; 0: as many as are a good size here
   * @param isView whether it is for a view of a follower, of which there are several at a time, and
   *     each begins with an empty pool
   * @return the share, which is given back by its close
   */
  public static PoolShare take(long wanted, boolean isView) {
    while (true) {
      long taken = TAKEN.get();
      long bytes = wanted != 0 ? wanted : goodSize(taken, isView);
      if (TAKEN.compareAndSet(taken, taken + bytes)) {
        return new PoolShare(bytes);
      }
    }
  }

  private static long goodSize(long taken, boolean isView) {
    long size = goodSize(MachineMemory.share(), Runtime.getRuntime().maxMemory(), taken);
    return isView ? ofView(size) : size;
  }

  /**
   * Seven eighths of what the limit leaves beside the heap, the JVM and other pools. So all pools
   * of this size together stay below the limit, until a pool has the least size.
   *
   * @param limit of the control group, {@link MachineMemory#UNKNOWN} if there is none
   * @param heap its greatest size
   * @param taken bytes of other pools
   */
  static long goodSize(long limit, long heap, long taken) {
    if (limit == MachineMemory.UNKNOWN) {
      return UNLIMITED;
    }
    long jvm = Math.max(limit / JVM_PART, LEAST_FOR_JVM);
    long left = limit - Math.min(heap, limit) - jvm - taken;
    long most = Math.min(MOST, POOL_PER_HEAP * Math.min(heap, MOST));
    return Math.max(LEAST, Math.min(most, left / 8 * 7 / MIB * MIB));
  }

  /** A view of a follower gets a part of what a database would get, and no large pool. */
  static long ofView(long goodSize) {
    return Math.max(LEAST, Math.min(UNLIMITED, goodSize / 2));
  }

  /** Bytes of all shares. */
  static long taken() {
    return TAKEN.get();
  }

  /**
   * Returns the size.
   *
   * @return bytes
   */
  public long bytes() {
    return bytes;
  }

  /** Gives the share back, when the pool has returned its memory. */
  @Override
  public void close() {
    TAKEN.addAndGet(-bytes);
  }
}
