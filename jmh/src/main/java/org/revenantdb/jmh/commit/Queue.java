package org.revenantdb.jmh.commit;

import java.util.Random;

/**
 * The workload of the paper, section 7.2: a queue of debits and credits that are applied to 200
 * accounts, four fifths of them to a fifth of the accounts. Readers read the balance of any
 * account.
 *
 * <p>A session processes an entry in one transaction: it takes the first entry out of the queue and
 * changes the balance of its account. The same transaction refills the queue: it adds the entry
 * that comes {@link #LENGTH} later, so the queue is never empty.
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
