package org.revenantdb.recovery.log;

import org.revenantdb.latch.WaitMeter;

/**
 * The meters for waits of a log, by class. Waits of the log's own threads are not reported.
 *
 * @param room for waits for room in the ring, by threads that publish
 * @param force for waits until the log is durable, by threads that request a force and wait for it
 * @param file for waits for a file of the log that has to be made first
 */
public record LogWaits(WaitMeter room, WaitMeter force, WaitMeter file) {
  /** Reports no waits. */
  public static final LogWaits NONE = new LogWaits(WaitMeter.NONE, WaitMeter.NONE, WaitMeter.NONE);
}
