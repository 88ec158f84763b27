package org.revenantdb.engine.txn;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Gives out the ids of transactions, in blocks to stripes of threads, so that those who begin to
 * write do not all meet at one number.
 *
 * <p>Thread-safe; lock-free, but for what is done where a block begins.
 */
final class TransactionIds {
  /*
   * Source      the only shared write is the reservation in the log.
   *
   * Word        of each stripe: the next id of its block; one that is the first of a block: nothing is left, as blocks end
   *             where the next one begins. And one word for all: the first id of the next block.
   *
   * Transitions of a stripe  id -> id + 1        CAS   next, of a block of which something is left
   *                          end -> first + 1    CAS   next, with a block of its own. Who has lost has a block that is
   *                                                    nobody's: he takes its first id, the others are unused
   *                          id -> end           CAS   takeBack: what was left is unused
   *             of all       first -> end        CAS   when there is room for the block: behind a CAS nothing fails, so
   *                                                    no id is lost for want of memory
   *
   * Invariants  I1 an id is given out once, or is unused, not both: each is in one block; of that it is given out, or
   *             becomes unused, by the one CAS that finds a number at or below it and leaves one above it. A word only
   *             grows, so a CAS whose expected value was read long ago fails. (jcstress: TransactionIdsStress)
   *             I2 below `end()` are all ids that were ever given out: the word for all is changed before.
   *             I3 ids that are neither given out nor unused lie in as many blocks as there are stripes, or were just
   *             taken by somebody on his way; the first are taken back when they hold up others (R21).
   *
   * Order       an id may be lower than one that was given out long before. Nothing asks ids for an order in time:
   *             commits have LSNs.
   */

  /** Who keeps what becomes of the ids. */
  interface Outcomes {
    /**
     * Makes room for a block, which may fail. It may be another's by now, or all of it may have
     * been given out and forgotten.
     */
    void makeRoom(long first);

    /** None of these, for which there is room, was given out, nor will be. Does not fail. */
    void unused(long from, long end);
  }

  /** Ids of a block; eight lines of a cache in the words of what became of them. */
  static final int BLOCK = 64;

  /** In between lie two lines of a cache. */
  private static final int STRIDE = 16;

  private final int stripes = Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors());

  /** Behind an unused stride: one for all, then the stripes'. */
  private final AtomicLongArray words = new AtomicLongArray((stripes + 3) * STRIDE);

  private final Outcomes outcomes;

  /** The first id to be given out, or to be unused. */
  TransactionIds(long first, Outcomes outcomes) {
    words.set(STRIDE, first);
    this.outcomes = outcomes;
  }

  /** An id that nobody else has. */
  long next() {
    return next((int) Thread.currentThread().threadId());
  }

  /** As {@link #next()}, of a thread with that number. */
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

  /** Gives up what is left of blocks that lie below an id. */
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

  /** All ids that were given out are below it. */
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
