package org.revenantdb.latch;

/**
 * The lock word of a {@link HybridLatch} as pure functions on a {@code long}: what each value
 * means, whom it admits, what it becomes. No memory is touched here, so all of it can be tested
 * exhaustively.
 */
final class LatchWord {
  /*
   * Bits   63          62      61        60..48    47..0
   *        EXCLUSIVE | PARKED | OBSOLETE | zero  | number of shared holders
   *
   * The legal values; OBSOLETE is reserved for nodes that are gone and is always zero until it is used.
   *
   *   EXCLUSIVE  shared  PARKED   meaning
   *       0        0       0      free, nobody waits
   *       0        0       1      free, and a thread that was woken is on its way; others still wait
   *       0        n       0      n readers, nobody waits
   *       0        n       1      n readers, somebody waits: newcomers wait behind them
   *       1        0       0      one writer, nobody waits
   *       1        0       1      one writer, somebody waits
   *       1        n       -      illegal
   *
   * Who writes what: holders and newcomers write EXCLUSIVE and the count, by compare-and-set of the whole
   * word. PARKED is written only under the lock of the latch's bucket in the parking lot.
   *
   * Invariant  While that bucket lock is free, PARKED is set if and only if a waiter is queued.
   */

  /** Nobody holds it, nobody waits for it. */
  static final long FREE = 0;

  /** One writer holds it. */
  static final long EXCLUSIVE = 1L << 63;

  /** Somebody is queued in the parking lot. */
  static final long PARKED = 1L << 62;

  /** Reserved for the mark of a node that is gone; always zero today. */
  static final long OBSOLETE = 1L << 61;

  /** One shared holder; the count can be added to and subtracted from the word. */
  static final long ONE_SHARED = 1;

  /** The bits that count shared holders: more than there can ever be threads. */
  static final long SHARED_MASK = (1L << 48) - 1;

  private LatchWord() {}

  /** Whether the word is a row of the table above. */
  static boolean isLegal(long word) {
    boolean onlyKnownBits = (word & ~(EXCLUSIVE | PARKED | SHARED_MASK)) == 0;
    return onlyKnownBits && !(isExclusive(word) && sharedHolders(word) != 0);
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

  /** Whether nobody holds the latch, in whichever mode. */
  static boolean isUnheld(long word) {
    return (word & (EXCLUSIVE | SHARED_MASK)) == 0;
  }

  /** Whether a writer may enter now. It may barge past those who are queued. */
  static boolean admitsExclusive(long word) {
    return isUnheld(word);
  }

  /**
   * Whether a reader may enter now. A newcomer does not join other readers while somebody is
   * queued, or a stream of readers would keep a writer out for ever.
   *
   * @param returning whether this reader was queued itself and has been woken; it had its place in
   *     the queue and joins readers freely
   */
  static boolean admitsShared(long word, boolean returning) {
    if (isExclusive(word)) {
      return false;
    }
    return returning || !isParked(word) || sharedHolders(word) == 0;
  }

  /** Whether the only shared holder may become the writer. */
  static boolean admitsUpgrade(long word) {
    return !isExclusive(word) && sharedHolders(word) == 1;
  }

  static long withExclusive(long word) {
    return word | EXCLUSIVE;
  }

  static long withOneMoreShared(long word) {
    return word + ONE_SHARED;
  }

  static long upgraded(long word) {
    return (word - ONE_SHARED) | EXCLUSIVE;
  }

  static long withParked(long word, boolean parked) {
    return parked ? word | PARKED : word & ~PARKED;
  }

  /**
   * Whether a reader that leaves must look after the queue: it is the last one and somebody waits.
   */
  static boolean lastSharedWithWaiters(long word) {
    return isParked(word) && sharedHolders(word) == 1;
  }

  /** The word after a group of waiters was made its holder. */
  static long granted(long word, int waiters, boolean shared) {
    return shared ? word + waiters * ONE_SHARED : withExclusive(word);
  }

  /**
   * What to do with the waiters at the head of the queue when the word has become {@code left}, the
   * one who leaves already taken out of it.
   *
   * @param waiters how many wait at the head: one writer, or the contiguous readers; or 0
   * @param shared whether they are readers
   * @param handOverDue whether the fairness time has come
   */
  static ParkingLot.Wake whomToWake(long left, int waiters, boolean shared, boolean handOverDue) {
    if (waiters == 0 || isExclusive(left)) {
      return ParkingLot.Wake.NONE;
    }
    if (sharedHolders(left) != 0) {
      return shared ? ParkingLot.Wake.GRANT : ParkingLot.Wake.NONE;
    }
    return handOverDue ? ParkingLot.Wake.GRANT : ParkingLot.Wake.RETRY;
  }

  /** For messages: {@code "exclusive, parked"}. */
  static String describe(long word) {
    String held = isExclusive(word) ? "exclusive" : sharedHolders(word) + " shared";
    return (isUnheld(word) ? "free" : held) + (isParked(word) ? ", parked" : "");
  }
}
