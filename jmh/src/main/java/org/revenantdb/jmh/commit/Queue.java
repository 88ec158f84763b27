package org.revenantdb.jmh.commit;

import java.util.Random;

/**
 * The workload of the paper, section 7.2: a queue of debits and credits that are applied to 200
 * accounts, four fifths of them to a fifth of the accounts; readers ask for the balance of any
 * account.
 *
 * <p>Whoever processes an entry takes the first one out of the queue and changes the balance of its
 * account, in one transaction. The queue is refilled by the same transaction, so that it never runs
 * dry: the entry taken is replaced by the one that comes {@link #LENGTH} later.
 */
final class Queue {
  /** Accounts. */
  static final int ACCOUNTS = 200;

  /** Entries that wait. */
  static final int LENGTH = 100;

  /** Bytes of an account: number, balance, description. */
  static final int ACCOUNT = Rows.VALUE;

  private static final int HOT = ACCOUNTS / 5;

  private Queue() {}

  /** The account of an update. */
  static int updated(Random random) {
    return random.nextInt(10) < 8 ? random.nextInt(HOT) : HOT + random.nextInt(ACCOUNTS - HOT);
  }

  /** The account of a reader. */
  static int read(Random random) {
    return random.nextInt(ACCOUNTS);
  }
}
