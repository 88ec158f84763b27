package org.revenantdb.recovery.restart;

import org.revenantdb.recovery.log.PartKind;

/** Applies the parts of records to a page. Each is used by one thread. */
@FunctionalInterface
public interface RedoTarget {
  /**
   * A part that may be missing on its page. For each page called in LSN order; parts that are older
   * than the last FORMAT or FREE of their page are left out, FREE itself too (R12), and those that
   * the page is known to have in the data file. What is done must depend on the page and the part
   * alone: other threads redo other pages meanwhile (R13).
   *
   * <p>The target applies it if the page's LSN is lower.
   *
   * @param pageId the page
   * @param lsn the record's LSN
   * @param kind CHANGE, or FORMAT, which needs no read
   * @param record an array that holds the record; valid during the call
   * @param offset where the operations of the part begin
   * @param length how many bytes they are
   */
  void redo(int pageId, long lsn, PartKind kind, byte[] record, int offset, int length);
}
