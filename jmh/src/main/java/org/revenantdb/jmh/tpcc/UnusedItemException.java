package org.revenantdb.jmh.tpcc;

/**
 * A user has typed an item that there is none of, as one New-Order in a hundred does; the
 * transaction is to be rolled back, and counts as done (TPC-C 2.4.1.4).
 */
public final class UnusedItemException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnusedItemException() {
    // It is an answer, not a failure: nobody looks at its stack.
    super("item number is not valid", null, false, /* writableStackTrace= */ false);
  }
}
