/**
 * The cost of the latch compared with the locks of the JDK.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.latch.LatchUncontendedBenchmark} without waits;
 * {@link org.revenantdb.jmh.latch.Writers} and {@link org.revenantdb.jmh.latch.Readers}, the loops
 * of many threads; {@link org.revenantdb.jmh.latch.LatchAllocation} and {@link
 * org.revenantdb.jmh.latch.LatchFootprint}, the cost in memory.
 */
@NullMarked
package org.revenantdb.jmh.latch;

import org.jspecify.annotations.NullMarked;
