package org.revenantdb.engine;

/**
 * The waits of one class.
 *
 * @param waitClass the class
 * @param count number of waits that have ended
 * @param totalNanos their total time in nanoseconds
 * @param maxNanos the longest wait in nanoseconds; 0 if there was none. In a difference ({@link
 *     Waits#since}) it is exact if it is the longest wait ever. Otherwise it is an upper bound,
 *     less than twice the exact value
 */
public record WaitCounts(WaitClass waitClass, long count, long totalNanos, long maxNanos) {
  /**
   * The average time of a wait.
   *
   * @return nanoseconds, rounded down; 0 if there was none
   */
  public long averageNanos() {
    return count == 0 ? 0 : totalNanos / count;
  }
}
