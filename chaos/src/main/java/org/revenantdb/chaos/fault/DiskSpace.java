package org.revenantdb.chaos.fault;

/**
 * A disk with room for so many bytes more. When it is full, everything that would make a file
 * longer or create one fails, until somebody makes room.
 *
 * <p>A write that only in part finds room writes that part and says so, as on a real disk; it is
 * the next one that fails. What fits no more makes the disk full for smaller writes as well. Bytes
 * that are deleted or cut off do not come back by themselves: other programs took them.
 *
 * <p>Threads: any.
 */
public final class DiskSpace implements FaultInjector {

  private long room;
  private long refused;
  private boolean full;

  /**
   * Makes a disk.
   *
   * @param bytes by how many its files may grow
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
    // What overwrites needs no room.
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

  /** Makes as much room as anybody can want: the disk is never full again. */
  public void free() {
    free(Long.MAX_VALUE / 2);
  }

  /** Takes all room away: something else has written until the disk was full. */
  public synchronized void fill() {
    room = 0;
    full = true;
  }

  /**
   * Makes some room.
   *
   * @param bytes how much more than what was left
   */
  public synchronized void free(long bytes) {
    room = Math.min(Long.MAX_VALUE / 2, room + bytes);
    full = false;
  }

  /**
   * Tells whether something did not find enough room since it was last made.
   *
   * @return true if so
   */
  public synchronized boolean isFull() {
    return full;
  }

  /**
   * How often something failed for want of room.
   *
   * @return the number so far
   */
  public synchronized long refused() {
    return refused;
  }
}
