package org.revenantdb.chaos.report;

/**
 * A declared upper bound, a straight line, for the bytes that recovery reads and writes together.
 *
 * @param label the declaration, as text
 * @param fixedBytes the bound without any log
 * @param perLogByte added for each byte of log since the checkpoint
 */
public record RecoveryBound(String label, long fixedBytes, double perLogByte) {

  /**
   * Returns the bound.
   *
   * @param logSinceCheckpoint in bytes
   * @return bytes
   */
  public double at(double logSinceCheckpoint) {
    return fixedBytes + perLogByte * logSinceCheckpoint;
  }

  /**
   * Returns whether a recovery kept to the bound.
   *
   * @param point its cost
   * @return whether that is on the line or below
   */
  public boolean holds(RecoveryCostPoint point) {
    return point.bytes() <= at((double) point.logSinceCheckpoint());
  }
}
