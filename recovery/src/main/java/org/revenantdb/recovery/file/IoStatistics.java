package org.revenantdb.recovery.file;

import org.revenantdb.latch.Tally;

/**
 * Counts reads, writes and forces; one object for all files of a database.
 *
 * <p>Threads: any, at any time. Each number is exact once the threads that did the work have been
 * joined; two numbers that are read one after the other may belong to different moments.
 */
public final class IoStatistics {
  private final Tally reads = new Tally();
  private final Tally bytesRead = new Tally();
  private final Tally writes = new Tally();
  private final Tally bytesWritten = new Tally();
  private final Tally forces = new Tally();

  /** All numbers at zero. */
  public IoStatistics() {}

  void countRead(long bytes) {
    reads.increment();
    bytesRead.add(bytes);
  }

  void countWrite(long bytes) {
    writes.increment();
    bytesWritten.add(bytes);
  }

  void countForce() {
    forces.increment();
  }

  /**
   * How often the engine has read.
   *
   * @return number of reads that succeeded
   */
  public long reads() {
    return reads.sum();
  }

  /**
   * How many bytes were read.
   *
   * @return bytes of the reads that succeeded
   */
  public long bytesRead() {
    return bytesRead.sum();
  }

  /**
   * How often the engine has written.
   *
   * @return number of writes that succeeded
   */
  public long writes() {
    return writes.sum();
  }

  /**
   * How many bytes were written.
   *
   * @return bytes of the writes that succeeded
   */
  public long bytesWritten() {
    return bytesWritten.sum();
  }

  /**
   * How often files and directories were forced.
   *
   * @return number of forces that succeeded
   */
  public long forces() {
    return forces.sum();
  }
}
