/**
 * The shared parts of the JVMs of several measurements.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.fork.Sessions}, threads that repeat one action for a
 * time; {@link org.revenantdb.jmh.fork.Sweep}, several values of one setting in one JVM; {@link
 * org.revenantdb.jmh.fork.WarmUp}, until a piece of work takes the same time twice; {@link
 * org.revenantdb.jmh.fork.Told}, the way of a result to the parent JVM.
 */
@NullMarked
package org.revenantdb.jmh.fork;

import org.jspecify.annotations.NullMarked;
