package org.revenantdb.engine.buffer;

/**
 * Counts the pages that a restart would have to read.
 *
 * <p>Threads: any, with latches held; no implementation waits for space or takes a latch.
 */
public interface PageAccount {
  /** Counts nothing. */
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
   * Pages are in the data file, forced and confirmed. Called by the page writer for each batch.
   *
   * @param count the number of pages
   * @param pageIds their ids
   * @param lsns the page LSN of each image that was written
   */
  void written(int count, int[] pageIds, long[] lsns);

  /** A dirty page is dropped, because the record that frees it was published. */
  void discarded();
}
