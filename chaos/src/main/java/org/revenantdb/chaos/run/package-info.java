/**
 * Runs a subject through crashes and reports the results.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.run.Outcome}, {@link
 * org.revenantdb.chaos.run.Failure}.
 */
package org.revenantdb.chaos.run;
