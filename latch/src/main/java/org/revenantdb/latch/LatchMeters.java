package org.revenantdb.latch;

/**
 * Finds the class of a latch that has to be waited for.
 *
 * <p>A latch has no room for a pointer to its class, and code that acquires many kinds of latches
 * in one place may not know the class in advance. The class is looked up only when it is needed:
 * once for each wait, and never for an acquisition that needs no wait.
 */
@FunctionalInterface
public interface LatchMeters {
  /**
   * The meter that receives a wait that is about to begin.
   *
   * @param latch the latch that the calling thread could not acquire at once; another thread holds
   *     it, so the protected data may be changing
   * @param shared whether it wants it shared, not exclusively
   * @return the meter. This method must not throw, just like those of a meter
   */
  WaitMeter meterOf(HybridLatch latch, boolean shared);
}
