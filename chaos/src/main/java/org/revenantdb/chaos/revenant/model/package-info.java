/**
 * The model-based test with random kills.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.revenant.model.Store} (what is asked of a store),
 * {@link org.revenantdb.chaos.revenant.model.ModelRun} (episodes), {@code KillEpisode} (children
 * that are killed; the parent's side), {@link org.revenantdb.chaos.revenant.model.WorkerMain} and
 * {@code Session} (the child's side, and what it says), {@code ChildLedger}, {@code Verifier};
 * {@code StepsEpisode} (one thread, every answer foretold); {@code KeySpace} and {@code Values}
 * (what is written).
 */
package org.revenantdb.chaos.revenant.model;
