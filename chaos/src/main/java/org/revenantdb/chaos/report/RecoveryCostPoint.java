package org.revenantdb.chaos.report;

/**
 * What one recovery cost, until the first read was answered.
 *
 * @param label short, stands beside the point; for instance {@code 10x}
 * @param transactionBytes written by the transaction that was in flight
 * @param logSinceCheckpoint bytes of log behind the last checkpoint
 * @param bytesRead by recovery
 * @param bytesWritten by recovery
 * @param operations on files, of every kind
 * @param millis how long it took; of several openings the median
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
   * All bytes that recovery moved.
   *
   * @return read and written
   */
  public long bytes() {
    return bytesRead + bytesWritten;
  }
}
