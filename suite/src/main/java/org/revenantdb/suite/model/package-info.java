/**
 * The model-based test with random kills.
 *
 * <p>Reading order: {@link org.revenantdb.suite.model.Store} (what is asked of a store), {@link
 * org.revenantdb.suite.model.ModelRun} (episodes), {@code KillEpisode} (children that are killed;
 * the parent's side), {@link org.revenantdb.suite.model.WorkerMain} and {@code Session} (the
 * child's side, and what it says), {@code ChildLedger}, {@code Verifier}; {@code StepsEpisode} (one
 * thread, every answer foretold); {@code KeySpace} and {@code Values} (what is written).
 */
package org.revenantdb.suite.model;
