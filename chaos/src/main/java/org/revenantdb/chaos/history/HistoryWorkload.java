package org.revenantdb.chaos.history;

/**
 * What the clients of a store do in one life.
 *
 * @param sessions how many work at once
 * @param transactions of each session; 0: until the process is killed
 * @param keys how many a life uses; half of them are those of the life before
 * @param lazyOfTen so many of ten transactions commit lazily
 */
public record HistoryWorkload(int sessions, int transactions, int keys, int lazyOfTen) {

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
}
