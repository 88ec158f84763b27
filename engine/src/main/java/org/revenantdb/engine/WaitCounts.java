package org.revenantdb.engine;

/**
 * The waits of one class.
 *
 * @param waitClass the class
 * @param count how many have ended
 * @param totalNanos how long they took, together, in nanoseconds
 * @param maxNanos how long the longest took, in nanoseconds; 0 if there was none. In a difference
 *     ({@link Waits#since}) it is exact if it is the longest ever, else an upper bound, less than
 *     twice what it was
 */
public record WaitCounts(WaitClass waitClass, long count, long totalNanos, long maxNanos) {
  /**
   * How long a wait took.
   *
   * @return nanoseconds, rounded down; 0 if there was none
   */
  public long averageNanos() {
    return count == 0 ? 0 : totalNanos / count;
  }
}
