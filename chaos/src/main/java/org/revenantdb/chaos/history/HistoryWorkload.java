package org.revenantdb.chaos.history;

/**
 * What the clients of a store do in one life: they read and write some keys over and over, and keys
 * that come to be one by one, and read ranges of both.
 *
 * @param sessions how many work at once
 * @param transactions of each session; 0: until the process is killed
 * @param keys how many a life uses all the time; half of them are those of the life before
 * @param lazyOfTen so many of ten transactions commit lazily
 */
public record HistoryWorkload(int sessions, int transactions, int keys, int lazyOfTen) {

  /** Behind all keys that are used all the time. */
  private static final int FIRST_NEW_KEY = 1 << 28;

  private static final int NEW_KEYS_OF_A_LIFE = 1 << 18;

  /** So many new keys do not come to be in their order: ranges get new ones inside and behind. */
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
   * The same with another number of transactions.
   *
   * @param count of each session
   * @return the workload
   */
  public HistoryWorkload withTransactions(int count) {
    return new HistoryWorkload(sessions, count, keys, lazyOfTen);
  }

  /** The first key of a life. */
  int firstKey(int life) {
    return life * keys / 2;
  }

  /** Behind the last key of the lives before a life. */
  int endOfFormerKeys(int life) {
    return life == 0 ? 0 : firstKey(life - 1) + keys;
  }

  /** The first of the keys that come to be in a life. */
  static int firstNewKey(int life) {
    return FIRST_NEW_KEY + life * NEW_KEYS_OF_A_LIFE;
  }

  /** Behind the last one that may come to be in a life. */
  static int endOfNewKeys(int life) {
    return firstNewKey(life + 1);
  }

  /**
   * The key of a life that is the n-th to come to be; even, the next one is free for a register.
   */
  static int newKey(int life, int n) {
    int shuffled = startOfShuffled(n) + (Integer.reverse(n) >>> 28);
    return firstNewKey(life) + 2 * shuffled;
  }

  /** A key of a life that is before all that come to be from the n-th on, and some before it. */
  static int beforeNewKey(int life, int n) {
    return firstNewKey(life) + 2 * Math.max(0, startOfShuffled(n) - SHUFFLED / 2);
  }

  /** A key of a life that only later ones than the n-th will be behind. */
  static int behindNewKey(int life, int n) {
    return firstNewKey(life) + 2 * (startOfShuffled(n) + 2 * SHUFFLED);
  }

  private static int startOfShuffled(int n) {
    return n - n % SHUFFLED;
  }
}
