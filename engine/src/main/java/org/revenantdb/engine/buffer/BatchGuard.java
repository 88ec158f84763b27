package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;

/**
 * Keeps a batch of pages whole while they are written to their places, so that a torn one can be
 * repaired (rule R24): the double-write file.
 */
public interface BatchGuard {
  /**
   * Stores a batch and forces it.
   *
   * @param pageIds the pages, ascending
   * @param count how many
   * @param images their bytes, sealed, one after the other
   */
  void write(int[] pageIds, int count, MemorySegment images);

  /** The pages of the last batch are forced in the data file. */
  void confirm();
}
