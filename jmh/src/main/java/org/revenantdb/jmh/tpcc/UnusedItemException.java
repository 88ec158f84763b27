package org.revenantdb.jmh.tpcc;

/**
 * The input contains an item that does not exist, as in one New-Order of a hundred. The transaction
 * must be rolled back, and counts as done (TPC-C 2.4.1.4).
 */
public final class UnusedItemException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnusedItemException() {
    // It is a result, not a failure, so it has no stack.
    super("item number is not valid", null, false, /* writableStackTrace= */ false);
  }
}
