package org.revenantdb.engine;

import java.util.List;
import org.revenantdb.recovery.file.StorageException;

/**
 * What a check of the structure found.
 *
 * @param problems what is wrong, where, and what to do; empty when all is well
 * @param damage what those problems say that are pages which cannot be read: a read of one is told
 *     the same
 * @param tables tables
 * @param rows rows in their leaves, whatever versions they have
 * @param treePages pages of trees
 * @param overflowPages pages of large values
 * @param pagesToClean pages that the cleaner still has to visit
 * @param freePages pages of the data file not in use
 */
public record CheckReport(
    List<String> problems,
    List<StorageException> damage,
    int tables,
    long rows,
    long treePages,
    long overflowPages,
    long pagesToClean,
    long freePages) {

  /**
   * Whether nothing is wrong.
   *
   * @return true without problems
   */
  public boolean isSound() {
    return problems.isEmpty();
  }
}
