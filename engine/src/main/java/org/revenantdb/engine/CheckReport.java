package org.revenantdb.engine;

import java.util.List;

/**
 * The result of a check of the structure. The counts are of the moment at which the check began.
 *
 * @param problems what is wrong, where, and what to do; empty if the database is sound
 * @param damage the problems that are unreadable pages, as the exceptions that a read of the page
 *     throws
 * @param warnings pages whose last write is not in the data file, but that are free or will be
 *     written again. Nothing is lost, but do not trust the device
 * @param tables number of tables
 * @param rows rows in their leaves, including deleted and uncommitted ones
 * @param treePages pages of trees
 * @param overflowPages pages of large values
 * @param pagesToClean pages that the cleaner still has to visit
 * @param freePages pages of the data file not in use
 * @param contents the counts of each table, in the order of their names
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

  /** What to do about problems; the same for all problems. */
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
   * Returns whether the database is sound.
   *
   * @return true if there are no problems
   */
  public boolean isSound() {
    return problems.isEmpty();
  }
}
