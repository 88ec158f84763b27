package org.revenantdb.chaos.fault;

/**
 * A disk with a limited number of free bytes. When it is full, every operation that enlarges or
 * creates a file fails, until space is freed.
 *
 * <p>A write that fits only in part writes that part and returns its length, as on a real disk. The
 * next write fails. A write that does not fit makes the disk full for smaller writes, too. Deleting
 * or cutting files frees no space here, as if other programs had taken it.
 *
 * <p>Threads: any.
 */
public final class DiskSpace implements FaultInjector {

  private long room;
  private long refused;
  private boolean full;

  /**
   * Creates a disk.
   *
   * @param bytes the space that its files can grow into
   */
  public DiskSpace(long bytes) {
    this.room = bytes;
  }

  @Override
  public synchronized Fault before(FileOperation operation) {
    return switch (operation.kind()) {
      case WRITE -> write(operation);
      case CREATE -> create(operation);
      default -> Fault.NONE;
    };
  }

  private Fault write(FileOperation operation) {
    long growth = operation.growth();
    if (growth == 0) {
      return Fault.NONE;
    }
    if (!full && growth <= room) {
      room -= growth;
      return Fault.NONE;
    }
    // Overwriting needs no space.
    long fits = (full ? 0 : room) + operation.length() - growth;
    full = true;
    if (fits > 0) {
      room = 0;
      return new Fault.ShortWrite((int) fits);
    }
    return refuse();
  }

  private Fault create(FileOperation operation) {
    if (full || operation.growth() > room) {
      full = true;
      return refuse();
    }
    room -= operation.growth();
    return Fault.NONE;
  }

  private Fault refuse() {
    refused++;
    return new Fault.DiskFull();
  }

  /** Frees unlimited space: the disk is never full again. */
  public void free() {
    free(Long.MAX_VALUE / 2);
  }

  /** Takes all space, as if another program had filled the disk. */
  public synchronized void fill() {
    room = 0;
    full = true;
  }

  /**
   * Frees some space.
   *
   * @param bytes added to the space that was left
   */
  public synchronized void free(long bytes) {
    room = Math.min(Long.MAX_VALUE / 2, room + bytes);
    full = false;
  }

  /**
   * Returns whether an operation did not find enough space since space was last freed.
   *
   * @return true if the disk is full
   */
  public synchronized boolean isFull() {
    return full;
  }

  /**
   * Returns how many operations failed for want of space.
   *
   * @return the number so far
   */
  public synchronized long refused() {
    return refused;
  }
}
