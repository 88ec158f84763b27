package org.revenantdb.latch;

/**
 * A departure whose waiters report when they have arrived after a wake-up, so that no other waiter
 * need be woken before.
 *
 * @param <K> what is waited for
 */
interface TracksArrivals<K> extends ParkingLot.Departure<K> {}
