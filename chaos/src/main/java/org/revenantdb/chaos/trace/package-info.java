/**
 * The one format for the recorded file operations of a program.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.trace.Operation}, {@link
 * org.revenantdb.chaos.trace.TraceClock}, {@link org.revenantdb.chaos.trace.Trace}, {@link
 * org.revenantdb.chaos.trace.Site}.
 */
package org.revenantdb.chaos.trace;
