package org.revenantdb.engine.txn;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;

/** Gives the jcstress tests access to one block of package-private transaction ids. */
@NullMarked
public final class OpenTransactionIds {
  private final TransactionIds ids = new TransactionIds(0, new Counted());
  private final AtomicInteger unused = new AtomicInteger();

  /**
   * A stripe with a block.
   *
   * @param given how many ids of the block are assigned
   * @param given how many ids of it are given out
   */
  public OpenTransactionIds(int given) {
    for (int i = 0; i < given; i++) {
      ids.next(0);
    }
  }

  /** The next id; always of the same stripe. */
  public int next() {
    return (int) ids.next(0);
  }

  /** Takes back the rest of the first block. */
  public void takeBack() {
    ids.takeBack(TransactionIds.BLOCK);
  }

  /** How many ids will never be assigned. */
  public int unused() {
    return unused.get();
  }

  private final class Counted implements TransactionIds.Outcomes {
    @Override
    public void makeRoom(long first) {}

    @Override
    public void unused(long from, long end) {
      unused.getAndAdd((int) (end - from));
    }
  }
}
