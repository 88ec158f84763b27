/**
 * A tree in memory whose nodes can be latched in four ways, to compare these on the same nodes.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.coupling.Node} and {@link
 * org.revenantdb.jmh.coupling.NodeTree}, the latched structure; {@link
 * org.revenantdb.jmh.coupling.LatchMode}, the four ways; {@link
 * org.revenantdb.jmh.coupling.PessimisticAccess} and {@link
 * org.revenantdb.jmh.coupling.OptimisticAccess}, the descents; {@link
 * org.revenantdb.jmh.coupling.Workload} and {@link org.revenantdb.jmh.coupling.Turns}, the tasks in
 * turn; {@link org.revenantdb.jmh.coupling.CouplingFork}, the JVM.
 */
@NullMarked
package org.revenantdb.jmh.coupling;

import org.jspecify.annotations.NullMarked;
