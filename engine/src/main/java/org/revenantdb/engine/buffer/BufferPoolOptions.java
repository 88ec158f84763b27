package org.revenantdb.engine.buffer;

/**
 * The size of a buffer pool, and the number of its threads.
 *
 * @param bytes the memory for frames; rounded down to whole pages
 * @param readThreads the maximum number of threads that read pages; they are started when needed
 * @param name prefix of the names of its threads
 */
public record BufferPoolOptions(long bytes, int readThreads, String name) {
  /** The smallest pool: 256 frames, or 2 MiB. */
  public static final long MIN_BYTES = 256L * BufferPool.PAGE_SIZE;

  /** The largest pool: 2^30 frames, or 8 TiB. */
  public static final long MAX_BYTES = (1L << 30) * BufferPool.PAGE_SIZE;

  private static final long SMALLEST_DEFAULT = 64L << 20;
  private static final long UNKNOWN_DEFAULT = 128L << 20;
  private static final long LARGEST_DEFAULT = 1L << 30;

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
   * Returns the size of a pool for which no size was chosen: an eighth of the memory that this
   * process can have, from 64 MiB to 1 GiB. Where the system does not tell it, 128 MiB.
   *
   * @return bytes
   */
  public static long defaultBytes() {
    return defaultBytes(MachineMemory.bytes());
  }

  static long defaultBytes(long memory) {
    long share = memory == MachineMemory.UNKNOWN ? UNKNOWN_DEFAULT : memory / 8;
    return Math.clamp(share, SMALLEST_DEFAULT, LARGEST_DEFAULT);
  }

  /**
   * Returns options for a pool with two reading threads.
   *
   * @param bytes the memory for frames
   */
  public static BufferPoolOptions ofBytes(long bytes) {
    return new BufferPoolOptions(bytes, 2, "revenant");
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
