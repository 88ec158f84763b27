package org.revenantdb.latch;

/**
 * A departure whose waiters say when they have arrived after a wake-up, so that nobody else need be
 * woken before.
 *
 * @param <K> what is waited for
 */
interface TracksArrivals<K> extends ParkingLot.Departure<K> {}
