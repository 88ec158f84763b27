package org.revenantdb.engine.buffer;

/**
 * Who keeps account of the pages that a restart would have to read.
 *
 * <p>Threads: any, with latches held; no implementation waits for room or takes a latch.
 */
public interface PageAccount {
  /** Keeps no account. */
  PageAccount NONE =
      new PageAccount() {
        @Override
        public void dirtied() {}

        @Override
        public void written(int count, int[] pageIds, long[] lsns) {}

        @Override
        public void discarded() {}
      };

  /** A clean page becomes dirty; its record is not reserved yet. */
  void dirtied();

  /**
   * Pages are in the data file, forced and confirmed. Called by the page writer, for each batch.
   *
   * @param count how many
   * @param pageIds which
   * @param lsns the page LSN of each image that was written
   */
  void written(int count, int[] pageIds, long[] lsns);

  /** A dirty page is forgotten: the record that frees it was published. */
  void discarded();
}
