package org.revenantdb.recovery.log;

import org.revenantdb.latch.WaitMeter;

/**
 * Where the waits for a log are told, by class. Waits of a log's own threads are none.
 *
 * @param room for room in the ring, by who publishes
 * @param force until the log is durable, by who asks for a force and waits for it
 * @param file for a file of the log that has to be made first
 */
public record LogWaits(WaitMeter room, WaitMeter force, WaitMeter file) {
  /** Tells nobody. */
  public static final LogWaits NONE = new LogWaits(WaitMeter.NONE, WaitMeter.NONE, WaitMeter.NONE);
}
