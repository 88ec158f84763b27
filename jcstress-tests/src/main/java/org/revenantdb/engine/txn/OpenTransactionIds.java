package org.revenantdb.engine.txn;

import org.jspecify.annotations.NullMarked;

/** One block of ids, which are package-private, for the jcstress tests. */
@NullMarked
public final class OpenTransactionIds {
  private final TransactionIds ids = new TransactionIds(0, this::unused);
  private int unused;

  /** One id of the first block is given out. */
  public OpenTransactionIds() {
    ids.next(0);
  }

  /** By the one actor who takes back. */
  private void unused(long from, long end) {
    unused += (int) (end - from);
  }

  /** The next, of always the same stripe. */
  public int next() {
    return (int) ids.next(0);
  }

  /** Takes back what is left. */
  public void takeBack() {
    ids.takeBack(TransactionIds.BLOCK);
  }

  /** How many ids of the first block nobody will ever get. */
  public int unused() {
    return unused;
  }
}
