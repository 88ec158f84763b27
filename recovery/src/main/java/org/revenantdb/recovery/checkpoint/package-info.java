/**
 * Checkpoints: how the redo point moves, fuzzily and without stopping any thread.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.checkpoint.CheckpointSource}, {@link
 * org.revenantdb.recovery.checkpoint.Checkpointer}, {@link
 * org.revenantdb.recovery.checkpoint.CheckpointImage}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.recovery.checkpoint;
