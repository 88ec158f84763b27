/**
 * Runs in which threads compete for one thing, for a fixed time: what JMH has no form for.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.contend.Contender}, the resource with the measured
 * loop; {@link org.revenantdb.jmh.contend.Competitor}, one thread in it; {@link
 * org.revenantdb.jmh.contend.ContentionRun}, one run; {@link
 * org.revenantdb.jmh.contend.ContentionFork}, a JVM for one contender. The small classes: {@link
 * org.revenantdb.jmh.contend.ContentionPoint}, {@link org.revenantdb.jmh.contend.ContentionResult},
 * {@link org.revenantdb.jmh.contend.WaitHistogram}, {@link org.revenantdb.jmh.contend.BusyLoop}.
 */
@NullMarked
package org.revenantdb.jmh.contend;

import org.jspecify.annotations.NullMarked;
