package org.revenantdb.chaos.report;

/**
 * The cost of one recovery, until the first read was answered.
 *
 * @param label a short text beside the point; for instance {@code 10x}
 * @param transactionBytes written by the transaction that was in flight
 * @param logSinceCheckpoint bytes of log behind the last checkpoint
 * @param bytesRead by recovery
 * @param bytesWritten by recovery
 * @param operations on files, of every kind
 * @param millis the duration; the median of several openings
 */
public record RecoveryCostPoint(
    String label,
    long transactionBytes,
    long logSinceCheckpoint,
    long bytesRead,
    long bytesWritten,
    long operations,
    double millis) {

  /**
   * Returns all bytes that recovery read or wrote.
   *
   * @return the sum
   */
  public long bytes() {
    return bytesRead + bytesWritten;
  }
}
