package org.revenantdb.engine;

/**
 * A transaction that was neither committed nor rolled back nor closed before its last reference
 * went away. It has been rolled back.
 *
 * @param transactionId its id, 0 if it had not written
 * @param begun the stack that began it
 */
public record LeakedTransaction(long transactionId, Throwable begun) {
  static void log(LeakedTransaction leak) {
    System.getLogger("org.revenantdb")
        .log(
            System.Logger.Level.WARNING,
            "a transaction was never committed, rolled back or closed; it has been rolled back; it was begun here",
            leak.begun());
  }
}
