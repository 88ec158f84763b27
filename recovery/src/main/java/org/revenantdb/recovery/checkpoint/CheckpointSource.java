package org.revenantdb.recovery.checkpoint;

import java.util.List;

/** What a checkpoint needs from the engine. Called by one thread at a time. */
public interface CheckpointSource {
  /**
   * Writes the pages that became dirty before a position. On return they are forced.
   *
   * @param lsn the position; {@link Long#MAX_VALUE} = every dirty page
   */
  void flushDirtyBefore(long lsn);

  /**
   * Returns the position since which the longest-dirty page has been dirty, including pages that
   * are being written.
   *
   * @return the smallest of these positions, {@link Long#MAX_VALUE} if no page is dirty
   */
  long oldestDirtyLsn();

  /**
   * Returns whether pages have still to be redone. Then {@link #oldestDirtyLsn} is where the
   * restart began, and a checkpoint without a request would not move the redo point.
   *
   * @return false once all pages of the restart were redone
   */
  default boolean isRedoPending() {
    return false;
  }

  /**
   * Returns the transactions. Waits for those that are committing. It reads the table before the
   * map of aborted ones, so a transaction that is being aborted is found in one of them. Prepared
   * transactions are published again.
   *
   * @return the content of the table and the map
   */
  TransactionImage transactions();

  /**
   * Returns the pages that were refused to readers and not written since. No later life may read
   * them as sound.
   *
   * @return at most a few thousand
   */
  List<RefusedPage> refusedPages();

  /**
   * Returns how many pages the data file uses.
   *
   * @return its high-water mark
   */
  long highWaterPages();

  /** Called when a round begins. Throws nothing. */
  default void roundBegins() {}

  /**
   * Called when a round has ended well. Throws nothing.
   *
   * @param redoPointBefore the redo point before the round
   * @param redoPoint the redo point now
   */
  default void roundEnded(long redoPointBefore, long redoPoint) {}

  /**
   * Called about once a second between two rounds, by the checkpoint thread, which may access
   * files. May take a moment; throws nothing.
   */
  default void everySecond() {}
}
