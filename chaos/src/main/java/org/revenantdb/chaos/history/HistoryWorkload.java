package org.revenantdb.chaos.history;

/**
 * The operations of a store's clients in one life: they read and write some keys repeatedly, add
 * new keys one by one, and read ranges of both.
 *
 * @param sessions the number of concurrent sessions
 * @param transactions the number for each session; 0: until the process is killed
 * @param keys the number of keys that a life uses all the time; half of them come from the life
 *     before
 * @param lazyOfTen the number of lazy commits in ten transactions
 */
public record HistoryWorkload(int sessions, int transactions, int keys, int lazyOfTen) {

  /** Behind all keys that are used all the time. */
  private static final int FIRST_NEW_KEY = 1 << 28;

  private static final int NEW_KEYS_OF_A_LIFE = 1 << 18;

  /**
   * This many new keys are created out of order, so that ranges get new keys inside and at the end.
   */
  private static final int SHUFFLED = 16;

  /** Checks the numbers. */
  public HistoryWorkload {
    if (sessions < 1 || transactions < 0 || keys < 4 || keys % 4 != 0) {
      throw new IllegalArgumentException(
          "%d sessions, %d transactions, %d keys: at least one, none, four, and a multiple of that"
              .formatted(sessions, transactions, keys));
    }
  }

  /**
   * Returns the workload with another number of transactions.
   *
   * @param count the number for each session
   * @return the workload
   */
  public HistoryWorkload withTransactions(int count) {
    return new HistoryWorkload(sessions, count, keys, lazyOfTen);
  }

  /** The first key of a life. */
  int firstKey(int life) {
    return life * keys / 2;
  }

  /** The end of the keys used before a life. */
  int endOfFormerKeys(int life) {
    return life == 0 ? 0 : firstKey(life - 1) + keys;
  }

  /** The first new key of a life. */
  static int firstNewKey(int life) {
    return FIRST_NEW_KEY + life * NEW_KEYS_OF_A_LIFE;
  }

  /** The end of the new keys of a life. */
  static int endOfNewKeys(int life) {
    return firstNewKey(life + 1);
  }

  /** The n-th new key of a life. It is even; the next key is free for a register. */
  static int newKey(int life, int n) {
    int shuffled = startOfShuffled(n) + (Integer.reverse(n) >>> 28);
    return firstNewKey(life) + 2 * shuffled;
  }

  /** A key of a life before its new keys from the n-th on, and behind some of those before. */
  static int beforeNewKey(int life, int n) {
    return firstNewKey(life) + 2 * Math.max(0, startOfShuffled(n) - SHUFFLED / 2);
  }

  /** A key of a life behind its new keys up to the n-th. */
  static int behindNewKey(int life, int n) {
    return firstNewKey(life) + 2 * (startOfShuffled(n) + 2 * SHUFFLED);
  }

  private static int startOfShuffled(int n) {
    return n - n % SHUFFLED;
  }
}
