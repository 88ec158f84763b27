/**
 * A latch of sixteen bytes, and the parking lot where its waiters wait.
 *
 * <p>Reading order: {@link org.revenantdb.latch.HybridLatch} for what it does; {@code LatchWord}
 * for the table of its states; {@link org.revenantdb.latch.ParkingLot} for how a thread waits and
 * is woken, with {@code Bucket} and {@code WaitNode}; then the small classes that waiting needs,
 * {@link org.revenantdb.latch.SpinPauses}, {@code ParkLimits}, {@code CacheTopology} and {@code
 * CurrentProcessor}; the reports of waits, {@link org.revenantdb.latch.WaitStatistics}, {@link
 * org.revenantdb.latch.WaitMeter} and {@code LatchWaitEvents}; last the debug mode, {@link
 * org.revenantdb.latch.LatchDebug} with {@code HoldRegistry} and {@code ObservedOrder}.
 */
package org.revenantdb.latch;
