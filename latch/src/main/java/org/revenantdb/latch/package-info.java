/**
 * A latch of sixteen bytes and the place where its waiters wait.
 *
 * <p>Reading order: {@link org.revenantdb.latch.HybridLatch} for what it does; {@code LatchWord}
 * for the table of its states; {@link org.revenantdb.latch.ParkingLot} for how a thread waits and
 * is woken, with {@code Bucket} and {@code WaitNode}; last the small ones, {@link
 * org.revenantdb.latch.Backoff} and {@link org.revenantdb.latch.WaitStatistics}.
 */
package org.revenantdb.latch;
