package org.revenantdb.engine.catalog;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Numbers of a sequence that one record has reserved, until they are used up.
 *
 * <p>Threads: any thread may take numbers; {@link #loggedAt} is called before others see the block.
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

  /** Sets the record that has reserved it. */
  SequenceBlock loggedAt(long recordLsn) {
    lsn = recordLsn;
    return this;
  }

  /** How many numbers were taken. */
  public long taken() {
    return Math.min(taken.get(), size);
  }

  /**
   * Ends the block: no thread can take a number of it any more, even if it got the block before.
   *
   * @return the remaining numbers, of the same record; no other thread has them
   */
  public SequenceBlock end() {
    long used = Math.min(taken.getAndSet(size), size);
    return new SequenceBlock(first + used, size - used).loggedAt(lsn);
  }

  /**
   * The numbers from a given one on, of a block that no other thread has.
   *
   * @return the same block, a part of it, or null if it has no such number
   */
  public @Nullable SequenceBlock from(long number) {
    long behind = first + size;
    if (behind <= Math.max(number, first)) {
      return null;
    }
    return number <= first ? this : new SequenceBlock(number, behind - number).loggedAt(lsn);
  }

  /** LSN of the record that has reserved it. */
  public long lsn() {
    return lsn;
  }

  /**
   * Takes the next index. If it is not below the size, the block is used up and no number was
   * taken.
   */
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

  /**
   * Whether half of the block is used with the number at this index. A block of one number has no
   * half.
   */
  public boolean isHalf(long index) {
    return size > 1 && index == (size - 1) / 2;
  }
}
