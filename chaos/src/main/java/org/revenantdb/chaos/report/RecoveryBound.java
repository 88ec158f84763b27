package org.revenantdb.chaos.report;

/**
 * A straight line that recovery's bytes, read and written together, are declared to stay below.
 *
 * @param label how it is declared, for people
 * @param fixedBytes with no log at all
 * @param perLogByte more for each byte of log since the checkpoint
 */
public record RecoveryBound(String label, long fixedBytes, double perLogByte) {

  /**
   * The most that is allowed.
   *
   * @param logSinceCheckpoint bytes
   * @return bytes
   */
  public double at(double logSinceCheckpoint) {
    return fixedBytes + perLogByte * logSinceCheckpoint;
  }

  /**
   * Whether a recovery kept to it.
   *
   * @param point what it cost
   * @return whether that is on the line or below
   */
  public boolean holds(RecoveryCostPoint point) {
    return point.bytes() <= at((double) point.logSinceCheckpoint());
  }
}
