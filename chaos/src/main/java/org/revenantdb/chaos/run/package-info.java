/**
 * Runs a subject through crashes and reports the results.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.run.Outcome}, {@link
 * org.revenantdb.chaos.run.Failure}, {@link org.revenantdb.chaos.run.StateChecker} (opens an
 * image), {@link org.revenantdb.chaos.run.Workers} and {@link org.revenantdb.chaos.run.WorkerMain}
 * (open images in JVMs of their own).
 */
package org.revenantdb.chaos.run;
