package org.revenantdb.recovery.checkpoint;

import java.util.List;

/** What a checkpoint needs from the engine. Called by one thread at a time. */
public interface CheckpointSource {
  /**
   * Writes the pages that have been dirty since before a position; they are forced on return.
   *
   * @param lsn the position; {@link Long#MAX_VALUE} = every dirty page
   */
  void flushDirtyBefore(long lsn);

  /**
   * Since when the longest-dirty page has been dirty, being written included.
   *
   * @return the smallest of these positions, {@link Long#MAX_VALUE} if no page is dirty
   */
  long oldestDirtyLsn();

  /**
   * Whether pages have still to be redone: then {@link #oldestDirtyLsn} is where the restart began,
   * and a checkpoint that nobody asks for would not move the redo point.
   *
   * @return false once all pages of the restart were redone
   */
  default boolean isRedoPending() {
    return false;
  }

  /**
   * The transactions: those that are committing are waited for; the table is read before the map of
   * aborted ones, so that one that is being aborted is found in either. What is prepared is
   * published anew.
   *
   * @return what the table and the map hold
   */
  TransactionImage transactions();

  /**
   * The pages that readers were refused and that were not written since: no later life may read
   * them as sound.
   *
   * @return a few thousand at most
   */
  List<RefusedPage> refusedPages();

  /**
   * How many pages the data file uses.
   *
   * @return its high-water mark
   */
  long highWaterPages();

  /**
   * Called about once a second between two rounds, by the thread of the checkpoints, which may
   * touch files. May take a moment; throws nothing.
   */
  default void everySecond() {}
}
