package org.revenantdb.engine;

import java.util.List;

/**
 * What a check of the structure found. The counts are of the moment at which the check began.
 *
 * @param problems what is wrong, where, and what to do; empty when all is well
 * @param damage the problems that are pages which cannot be read, as a read of such a page throws
 *     them
 * @param warnings free pages, or pages that will be written again, of which the data file has not
 *     what was written. Nothing is lost, but do not trust the device
 * @param tables tables
 * @param rows rows in their leaves, whatever versions they have
 * @param treePages pages of trees
 * @param overflowPages pages of large values
 * @param pagesToClean pages that the cleaner still has to visit
 * @param freePages pages of the data file not in use
 * @param contents what was counted in each table, in the order of their names
 * @param sequences the sequences whose rows are sound, in the order of their names
 */
public record CheckReport(
    List<String> problems,
    List<StorageException> damage,
    List<String> warnings,
    int tables,
    long rows,
    long treePages,
    long overflowPages,
    long pagesToClean,
    long freePages,
    List<CheckedTable> contents,
    List<CheckedSequence> sequences) {

  /** What to do about problems, the same for all. */
  private static final String ADVICE =
      "Keep a copy of the directory as it is, check the device, and restore the database from a copy. "
          + "If the device is sound, this is a defect of RevenantDB: please report it. "
          + "\"revenant page DIR N\" shows what is in page N.";

  /**
   * What to do about the problems.
   *
   * @return sentences for people; empty without problems
   */
  public String advice() {
    return isSound() ? "" : ADVICE;
  }

  /**
   * Whether nothing is wrong.
   *
   * @return true without problems
   */
  public boolean isSound() {
    return problems.isEmpty();
  }
}
