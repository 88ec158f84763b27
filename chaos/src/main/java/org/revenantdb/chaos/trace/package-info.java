/**
 * One format of what a program did to its files, whoever recorded it.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.trace.Operation}, {@link
 * org.revenantdb.chaos.trace.TraceClock}, {@link org.revenantdb.chaos.trace.Trace}, {@link
 * org.revenantdb.chaos.trace.Site}.
 */
package org.revenantdb.chaos.trace;
