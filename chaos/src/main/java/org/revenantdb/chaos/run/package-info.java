/**
 * Runs a subject through crashes and says what came of it.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.run.Outcome}, {@link
 * org.revenantdb.chaos.run.Failure}.
 */
package org.revenantdb.chaos.run;
