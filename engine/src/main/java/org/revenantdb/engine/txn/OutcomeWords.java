package org.revenantdb.engine.txn;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * One word for each of some transactions: what became of it, and whether somebody sleeps until that
 * is known.
 *
 * <p>Threads: any may look and wait; the transaction's own session changes its word.
 */
final class OutcomeWords {
  /*
   * State       0 UNKNOWN   1 ACTIVE   2 COMMITTING   3 AWAITED: COMMITTING, and somebody sleeps
   *             4 ABORTED   5 ELSEWHERE: prepared, its word is one of PreparedWords
   *             anything else: the commit LSN (always above 8)
   *
   * Transitions 0 -> 1         enter        its session, before its first record is reserved (R8)
   *             1 -> 2         committing   its session, before its commit record is reserved
   *             2 -> 3         mustWait     any, CAS, under the lock of the parking lot's bucket
   *             1 -> 5         moveAway     its session, prepared, when the word elsewhere says ACTIVE
   *             2, 3 -> 1      settle       who decides upon a prepared one, and could not publish it; only elsewhere
   *             2, 3 -> LSN    settle       its session, after that record is published
   *             1, 2, 3 -> 4   settle       its session, after the id is in the ATM, or all rows were put back
   *
   * Ordering    `settle` is one exchange. If a waiter's CAS comes before it in the order of the word, the exchange
   *             returns AWAITED, and the session wakes; if after, the CAS finds the outcome, and nobody sleeps. A read
   *             and a store instead would let the CAS fall in between. The CAS and the queueing are one step under the
   *             bucket's lock, which waking takes too: who is to be woken is in the queue. (CommittingStress)
   *             `committing` is a volatile store, the reservation that follows takes the tail with getAndAdd: who sees
   *             that tail, and takes it for its snapshot, sees COMMITTING, too.
   */

  static final long UNKNOWN = 0;
  static final long ACTIVE = 1;
  static final long COMMITTING = 2;
  static final long AWAITED = 3;
  static final long ABORTED = 4;
  static final long ELSEWHERE = 5;

  private final AtomicLongArray words;

  /** All unknown. */
  OutcomeWords(int count) {
    words = new AtomicLongArray(count);
  }

  /** What became of it; AWAITED is nobody's business but the waiters'. */
  long get(int index) {
    long word = words.get(index);
    return word == AWAITED ? COMMITTING : word;
  }

  void enter(int index) {
    words.set(index, ACTIVE);
  }

  void committing(int index) {
    words.set(index, COMMITTING);
  }

  void moveAway(int index) {
    words.set(index, ELSEWHERE);
  }

  /** Sets the outcome; returns whether somebody has to be woken. */
  boolean settle(int index, long outcome) {
    return words.getAndSet(index, outcome) == AWAITED;
  }

  /** Leaves a mark that somebody sleeps, unless there is nothing to wait for any more. */
  boolean mustWait(int index) {
    long found = words.compareAndExchange(index, COMMITTING, AWAITED);
    return found == COMMITTING || found == AWAITED;
  }
}
