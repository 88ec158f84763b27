package org.revenantdb.engine.txn;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * One word for each of some transactions. It has the outcome, and whether a thread sleeps until the
 * outcome is known.
 *
 * <p>Threads: any thread may read and wait; the transaction's own session changes its word.
 */
final class OutcomeWords {
  /*
   * State       0 UNKNOWN   1 ACTIVE   2 COMMITTING   3 AWAITED: COMMITTING, and a thread sleeps
   *             4 ABORTED   5 ELSEWHERE: prepared, its word is one of PreparedWords
   *             6 WAITED: ACTIVE, and a thread sleeps until it has ended (protocols.md §32)
   *             anything else: the commit LSN (always above 8)
   *
   * Transitions 0 -> 1         enter        its session, before its first record is reserved (R8)
   *             1 -> 2         committing   its session, before its commit record is reserved
   *             6 -> 3         committing   the same
   *             1 -> 6         mustWaitForEnd  any, CAS, under the lock of RowWaiters
   *             2 -> 3         mustWait     any, CAS, under the lock of the parking lot's bucket
   *             1, 6 -> 5      moveAway     its session, prepared, when the word elsewhere is ACTIVE
   *             2, 3 -> 1      settle       the thread that decides a prepared transaction, if it could not publish
   *                                         the record; its session, before it has reserved its record
   *                                         (protocols.md §34)
   *             2, 3 -> LSN    settle       its session, after that record is published
   *             0 -> 4         settle       the thread that gives up unassigned ids (TransactionIds)
   *             1, 2, 3, 6 -> 4  settle     its session, after the id is in the ATM, or all rows were reverted
   *
   * Ordering    `settle` is one exchange. If a waiter's CAS comes before it in the order of the word, the exchange
   *             returns AWAITED, and the session wakes; if after, the CAS finds the outcome, and no thread sleeps. A read
   *             and a store instead would let the CAS fall in between. The CAS and the queueing are one step under the
   *             bucket's lock, which waking takes too: a thread that must be woken is in the queue. (CommittingStress)
   *             `committing` and `moveAway` are exchanges, too, and carry WAITED on; so it reaches `settle` whatever
   *             comes in between. After the exchange for COMMITTING only waiters change the word, to AWAITED, which
   *             it would become anyway. (WaitedStress)
   *             `committing` is also a volatile store, and the reservation after it advances the tail with getAndAdd.
   *             So a thread that sees that tail, and takes it as its snapshot, also sees COMMITTING.
   */

  static final long UNKNOWN = 0;
  static final long ACTIVE = 1;
  static final long COMMITTING = 2;
  static final long AWAITED = 3;
  static final long ABORTED = 4;
  static final long ELSEWHERE = 5;
  private static final long WAITED = 6;

  private final AtomicLongArray words;

  /** Makes words that are all UNKNOWN. */
  OutcomeWords(int count) {
    words = new AtomicLongArray(count);
  }

  /** The outcome. AWAITED and WAITED are internal and not returned. */
  long get(int index) {
    long word = words.get(index);
    if (word == AWAITED) {
      return COMMITTING;
    }
    return word == WAITED ? ACTIVE : word;
  }

  void enter(int index) {
    words.set(index, ACTIVE);
  }

  void committing(int index) {
    if (words.getAndSet(index, COMMITTING) == WAITED) {
      words.set(index, AWAITED);
    }
  }

  /**
   * Marks that the word is elsewhere; returns whether a thread sleeps until the transaction has
   * ended.
   */
  boolean moveAway(int index) {
    return words.getAndSet(index, ELSEWHERE) == WAITED;
  }

  /** Sets the outcome; returns whether a thread must be woken. */
  boolean settle(int index, long outcome) {
    long found = words.getAndSet(index, outcome);
    return found == AWAITED || found == WAITED;
  }

  /** Sets the mark that a thread sleeps, unless there is nothing to wait for any more. */
  boolean mustWait(int index) {
    long found = words.compareAndExchange(index, COMMITTING, AWAITED);
    return found == COMMITTING || found == AWAITED;
  }

  /**
   * Sets the mark that a thread sleeps until the transaction has ended, unless it ends or has
   * ended.
   */
  boolean mustWaitForEnd(int index) {
    long found = words.compareAndExchange(index, ACTIVE, WAITED);
    return found == ACTIVE || found == WAITED;
  }
}
