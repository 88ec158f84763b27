package org.revenantdb.latch;

/**
 * The lock word of a {@link HybridLatch} as pure functions on a {@code long}: what each value
 * means, which threads it admits, and what it becomes. No method accesses memory, so all of them
 * can be tested exhaustively.
 */
final class LatchWord {
  /*
   * Bits   63          62       61..48   47..0
   *        EXCLUSIVE | PARKED | zero   | number of shared holders
   *
   * The legal values:
   *
   *   EXCLUSIVE  shared  PARKED   meaning
   *       0        0       0      free
   *       0        n       0      n readers
   *       0        n       1      n readers; the last one to leave must serve the queue, newcomers queue
   *       1        0       0      one writer
   *       1        0       1      one writer, which must serve the queue when it leaves
   *       0        0       1      illegal: a departing holder serves the queue in the same step
   *       1        n       -      illegal
   *
   * So a free latch is always the same word. To acquire it costs one compare-and-set, and so does to leave it, even
   * while others wait.
   *
   * Writers of the bits: holders and newcomers write EXCLUSIVE and the count, by compare-and-set of the whole
   * word. PARKED is set by a thread that queues and cleared by a thread that leaves, both under the lock of the
   * latch's bucket. A woken thread sets it too, in one step with its entry.
   *
   * Invariant  While that bucket lock is free: if a thread is queued, then PARKED is set, or a thread that was woken
   *            to try for itself is on its way and will set PARKED. While it is on its way no other thread is woken.
   *            Threads that come and go at full speed meanwhile need not know that there is a queue.
   *
   * PARKED with an empty queue is harmless: a departing holder finds no waiter, and clears it.
   *
   * The mark of an obsolete node is in the version, where optimistic readers look (HybridLatch).
   */

  /** No thread holds it. */
  static final long FREE = 0;

  /** One writer holds it. */
  static final long EXCLUSIVE = 1L << 63;

  /** The holder that leaves it free must serve the queue. */
  static final long PARKED = 1L << 62;

  /** One shared holder; the count can be added to and subtracted from the word. */
  static final long ONE_SHARED = 1;

  /** The bits that count shared holders: more than there can ever be threads. */
  static final long SHARED_MASK = (1L << 48) - 1;

  private LatchWord() {}

  /** Whether the word is a legal row of the table above. */
  static boolean isLegal(long word) {
    boolean onlyKnownBits = (word & ~(EXCLUSIVE | PARKED | SHARED_MASK)) == 0;
    return onlyKnownBits
        && !(isExclusive(word) && sharedHolders(word) != 0)
        && !(isParked(word) && isUnheld(word));
  }

  static boolean isExclusive(long word) {
    return (word & EXCLUSIVE) != 0;
  }

  static boolean isParked(long word) {
    return (word & PARKED) != 0;
  }

  static long sharedHolders(long word) {
    return word & SHARED_MASK;
  }

  /** Whether no thread holds the latch, in any mode. */
  static boolean isUnheld(long word) {
    return (word & (EXCLUSIVE | SHARED_MASK)) == 0;
  }

  /**
   * Whether a reader may enter now. A newcomer does not join other readers while a thread is
   * queued; else a stream of readers would keep a writer out for ever.
   *
   * @param returning whether this reader was queued itself and has been woken; it has had its place
   *     in the queue, so it may join other readers
   */
  static boolean admitsShared(long word, boolean returning) {
    return !isExclusive(word) && (returning || !isParked(word));
  }

  /** Whether the only shared holder may become the writer. */
  static boolean admitsUpgrade(long word) {
    return !isExclusive(word) && sharedHolders(word) == 1;
  }

  static long upgraded(long word) {
    return (word - ONE_SHARED) | EXCLUSIVE;
  }

  static long withParked(long word, boolean parked) {
    return parked ? word | PARKED : word & ~PARKED;
  }

  /** Whether a departing reader must serve the queue: it is the last one, and a thread waits. */
  static boolean lastSharedWithWaiters(long word) {
    return isParked(word) && sharedHolders(word) == 1;
  }

  /** The word after a group of waiters was made its holder. */
  static long granted(long word, int waiters, boolean shared) {
    return shared ? word + waiters * ONE_SHARED : word | EXCLUSIVE;
  }

  /**
   * What to do with the waiters at the head of the queue when the word has become {@code left},
   * from which the departing holder is already subtracted.
   *
   * @param waiters how many wait at the head: one writer, or the contiguous readers; or 0
   * @param shared whether they are readers
   * @param handOverDue whether the fairness time has come
   * @param onItsWay whether a thread was woken before and has not arrived yet
   */
  static ParkingLot.Wake whomToWake(
      long left, int waiters, boolean shared, boolean handOverDue, boolean onItsWay) {
    if (waiters == 0 || isExclusive(left)) {
      return ParkingLot.Wake.NONE;
    }
    if (sharedHolders(left) != 0) {
      return shared ? ParkingLot.Wake.GRANT : ParkingLot.Wake.NONE;
    }
    if (handOverDue) {
      return ParkingLot.Wake.GRANT;
    }
    return onItsWay ? ParkingLot.Wake.NONE : ParkingLot.Wake.RETRY;
  }

  /**
   * The word once the decision of {@link #whomToWake} has been carried out. If no thread holds it
   * then, it is free: the woken thread that is on its way is responsible for the queue.
   *
   * @param othersWait whether other threads are queued behind the group at the head
   */
  static long served(
      long left, ParkingLot.Wake wake, int waiters, boolean shared, boolean othersWait) {
    return switch (wake) {
      case GRANT -> withParked(granted(left, waiters, shared), othersWait);
      case RETRY -> withParked(left, /* parked= */ false);
      case NONE -> withParked(left, waiters > 0 && !isUnheld(left));
    };
  }

  /** For messages: {@code "exclusive, parked"}. */
  static String describe(long word) {
    String held = isExclusive(word) ? "exclusive" : sharedHolders(word) + " shared";
    return (isUnheld(word) ? "free" : held) + (isParked(word) ? ", parked" : "");
  }
}
