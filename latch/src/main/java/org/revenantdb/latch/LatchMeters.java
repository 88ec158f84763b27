package org.revenantdb.latch;

/**
 * Finds the class of a latch that has to be waited for.
 *
 * <p>A latch has no room for a pointer to its class, and whoever acquires many kinds of latches in
 * one place may not know it before. Here it is asked for when it is needed: once for each wait, and
 * never for an acquisition that is served at once.
 */
@FunctionalInterface
public interface LatchMeters {
  /**
   * Where a wait is told that is about to begin.
   *
   * @param latch what the calling thread could not have at once; somebody else holds it, so what it
   *     protects may be changing
   * @param shared whether it wants it shared, not exclusively
   * @return the meter. Like a meter this throws nothing
   */
  WaitMeter meterOf(HybridLatch latch, boolean shared);
}
