package org.revenantdb.engine.buffer;

/**
 * The size of a buffer pool, and the number of its threads.
 *
 * @param bytes the memory for frames; rounded down to whole pages
 * @param readThreads the maximum number of threads that read pages; they are started when needed
 * @param name prefix of the names of its threads
 * @param beside whether callers read single pages beside the cache of the system, where that is
 *     possible
 */
public record BufferPoolOptions(long bytes, int readThreads, String name, boolean beside) {
  /** The smallest pool: 256 frames, or 2 MiB. */
  public static final long MIN_BYTES = 256L * BufferPool.PAGE_SIZE;

  /** The largest pool: 2^30 frames, or 8 TiB. */
  public static final long MAX_BYTES = (1L << 30) * BufferPool.PAGE_SIZE;

  /** What a JVM takes outside of its heap, at least. */
  private static final long SMALLEST_JVM = 64L << 20;

  /**
   * Checks the numbers against each other and against this machine.
   *
   * @throws PoolSizeException if the pool is too small, or larger than the machine's memory
   */
  public BufferPoolOptions {
    if (readThreads < 1) {
      throw new IllegalArgumentException(
          "readThreads is " + readThreads + ", but must be 1 or more");
    }
    if (bytes < MIN_BYTES || bytes > MAX_BYTES) {
      throw new PoolSizeException(
          "poolBytes must be from %d to %d, not %d".formatted(MIN_BYTES, MAX_BYTES, bytes));
    }
    long memory = MachineMemory.bytes();
    if (bytes > memory) {
      throw new PoolSizeException(
          "poolBytes must be from %d to %d, the memory that this process can have, not %d; choose a smaller pool"
              .formatted(MIN_BYTES, memory, bytes));
    }
  }

  /**
   * Returns options for a pool with two reading threads.
   *
   * @param bytes the memory for frames
   */
  public static BufferPoolOptions ofBytes(long bytes) {
    return new BufferPoolOptions(
        bytes,
        2,
        "revenant",
        takesMost(bytes, MachineMemory.usable(), Runtime.getRuntime().maxMemory()));
  }

  /**
   * Whether a pool leaves less memory for the cache of the system than it takes. Then that cache
   * would mostly hold pages that are in the pool as well.
   *
   * @param bytes of the pool
   * @param memory of the process, {@link MachineMemory#UNKNOWN} if the system does not report it
   * @param heap its greatest size. A heap that is larger than three quarters does not count whole:
   *     it may never become so large
   */
  static boolean takesMost(long bytes, long memory, long heap) {
    return bytes >= Math.max(memory - heap - SMALLEST_JVM, memory / 4) / 2;
  }

  /**
   * Returns how many pages fit.
   *
   * @return number of frames
   */
  public int frames() {
    return (int) (bytes / BufferPool.PAGE_SIZE);
  }
}
