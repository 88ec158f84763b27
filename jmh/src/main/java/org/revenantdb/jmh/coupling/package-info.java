/**
 * A tree in memory whose nodes can be latched in four ways, to compare the ways on the same nodes.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.coupling.Node} and {@link
 * org.revenantdb.jmh.coupling.NodeTree}, what is latched; {@link
 * org.revenantdb.jmh.coupling.LatchMode}, the four ways; {@link
 * org.revenantdb.jmh.coupling.PessimisticAccess} and {@link
 * org.revenantdb.jmh.coupling.OptimisticAccess}, how they go down; {@link
 * org.revenantdb.jmh.coupling.Workload} and {@link org.revenantdb.jmh.coupling.Turns}, what is done
 * with them, by turns; {@link org.revenantdb.jmh.coupling.CouplingFork}, the JVM that does it.
 */
@NullMarked
package org.revenantdb.jmh.coupling;

import org.jspecify.annotations.NullMarked;
