package org.revenantdb.engine.txn;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Assigns the ids of transactions. Stripes of threads get blocks of ids, so that transactions that
 * begin to write do not all contend for one counter.
 *
 * <p>Thread-safe; lock-free, except for the work at the beginning of a block.
 */
final class TransactionIds {
  /*
   * Source      the only shared write is the reservation in the log.
   *
   * Word        of each stripe: the next id of its block. If that is the first id of a block, nothing is left,
   *             because a block ends where the next one begins. And one word for all: the first id of the next block.
   *
   * Transitions of a stripe  id -> id + 1        CAS   next, in a block with ids left
   *                          end -> first + 1    CAS   next, with a new block. A thread that loses the CAS still has its
   *                                                    block: it takes the first id, the others are unused
   *                          id -> end           CAS   takeBack: the remaining ids are unused
   *             of all       first -> end        CAS   when there is room for the block: after a CAS nothing fails, so
   *                                                    no id is lost for lack of memory
   *
   * Invariants  I1 an id is assigned once, or is unused, not both. Each id is in one block. One CAS assigns it or
   *             makes it unused: the one that finds a number at or below the id and stores one above it. A word only
   *             grows, so a CAS whose expected value was read long ago fails. (jcstress: TransactionIdsStress)
   *             I2 all ids that were ever assigned are below `end()`: the word for all is changed before. I3 ids that
   *             are neither assigned nor unused lie in as many blocks as there are stripes, or a thread has just
   *             taken them. The former are taken back when they hold up others (R21).
   *
   * Order       an id may be lower than one that was assigned long before. No code relies on a time order of ids:
   *             commits have LSNs.
   */

  /** The store of the outcomes of ids. */
  interface Outcomes {
    /**
     * Makes room for a block, which may fail. By now the block may belong to another thread, or all
     * of it may have been assigned and forgotten.
     */
    void makeRoom(long first);

    /** Called for ids, with room for them, of which none was or will be assigned. Does not fail. */
    void unused(long from, long end);
  }

  /** The number of ids of a block; their outcome words take eight cache lines. */
  static final int BLOCK = 64;

  /** Two cache lines from one word to the next. */
  private static final int STRIDE = 16;

  private final int stripes = Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors());

  /** After an unused stride: the word for all, then those of the stripes. */
  private final AtomicLongArray words = new AtomicLongArray((stripes + 3) * STRIDE);

  private final Outcomes outcomes;

  /** Starts at the first id to be assigned or to stay unused. */
  TransactionIds(long first, Outcomes outcomes) {
    words.set(STRIDE, first);
    this.outcomes = outcomes;
  }

  /** An id that no other transaction has. */
  long next() {
    return next((int) Thread.currentThread().threadId());
  }

  /** As {@link #next()}, for a thread with this number. */
  long next(int thread) {
    int at = stripe(thread & (stripes - 1));
    while (true) {
      long id = words.get(at);
      if (isFirst(id)) {
        return ofNewBlock(at, id);
      }
      if (words.compareAndSet(at, id, id + 1)) {
        return id;
      }
    }
  }

  private long ofNewBlock(int at, long before) {
    long first;
    do {
      first = words.get(STRIDE);
      outcomes.makeRoom(first);
    } while (!words.compareAndSet(STRIDE, first, endOfBlock(first)));
    if (!words.compareAndSet(at, before, first + 1)) {
      giveUp(first + 1, endOfBlock(first));
    }
    return first;
  }

  /** Gives up the remaining ids of blocks that lie below an id. */
  void takeBack(long below) {
    for (int stripe = 0; stripe < stripes; stripe++) {
      int at = stripe(stripe);
      long id = words.get(at);
      long end = endOfBlock(id);
      if (!isFirst(id) && end <= below && words.compareAndSet(at, id, end)) {
        giveUp(id, end);
      }
    }
  }

  private void giveUp(long from, long end) {
    if (from < end) {
      outcomes.unused(from, end);
    }
  }

  /** An upper bound, exclusive, of all assigned ids. */
  long end() {
    return words.get(STRIDE);
  }

  private static boolean isFirst(long id) {
    return (id & (BLOCK - 1)) == 0;
  }

  private static long endOfBlock(long id) {
    return (id | (BLOCK - 1)) + 1;
  }

  private static int stripe(int stripe) {
    return (2 + stripe) * STRIDE;
  }
}
