/**
 * Checkpoints: how the redo point moves, fuzzily and without stopping anybody.
 *
 * <p>Reading order: CheckpointSource, which the engine implements, Checkpointer, CheckpointImage.
 */
package org.revenantdb.recovery.checkpoint;
