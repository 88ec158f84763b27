package org.revenantdb.engine.catalog;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Numbers of a sequence that one record has reserved, until they are used up.
 *
 * <p>Threads: any may take; {@link #loggedAt} before others see it.
 */
public final class SequenceBlock {
  private final long first;
  private final long size;
  private final AtomicLong taken = new AtomicLong();
  private long lsn;

  /**
   * Numbers from {@code first} to {@code first + size - 1}.
   *
   * @param size 0 for none
   */
  public SequenceBlock(long first, long size) {
    this.first = first;
    this.size = size;
  }

  /** Says which record has reserved it. */
  void loggedAt(long recordLsn) {
    lsn = recordLsn;
  }

  /** LSN of the record that has reserved it. */
  public long lsn() {
    return lsn;
  }

  /** Takes the next index; it is nobody's, and the block used up, if it is not below the size. */
  public long take() {
    return taken.getAndIncrement();
  }

  /** How many numbers it has. */
  public long size() {
    return size;
  }

  /** The number at an index. */
  public long number(long index) {
    return first + index;
  }

  /** Whether half is used with the number at this index. One number alone has no half. */
  public boolean isHalf(long index) {
    return size > 1 && index == (size - 1) / 2;
  }
}
