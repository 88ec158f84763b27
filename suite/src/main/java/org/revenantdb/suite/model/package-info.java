/**
 * The model-based test with random kills.
 *
 * <p>Reading order: {@link org.revenantdb.suite.model.Store} (the interface of a store), {@link
 * org.revenantdb.suite.model.ModelRun} (episodes), {@code KillEpisode} (children that are killed;
 * the parent's side), {@link org.revenantdb.suite.model.WorkerMain} and {@code Session} (the
 * child's side, and its lines), {@code ChildLedger}, {@code Verifier}; {@code StepsEpisode} (one
 * thread, every answer predicted); {@code KeySpace} and {@code Values} (the data).
 */
package org.revenantdb.suite.model;
