/**
 * What the JVMs of several measurements share.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.fork.Sessions}, threads that do one thing for a time;
 * {@link org.revenantdb.jmh.fork.Sweep}, several values of one setting in one JVM; {@link
 * org.revenantdb.jmh.fork.Told}, how a result gets to the JVM that asked.
 */
@NullMarked
package org.revenantdb.jmh.fork;

import org.jspecify.annotations.NullMarked;
