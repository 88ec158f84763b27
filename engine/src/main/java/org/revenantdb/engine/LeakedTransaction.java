package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * A transaction that was neither committed nor rolled back nor closed before its last reference
 * went away. It has been rolled back.
 *
 * @param transactionId its id, 0 if it had not written
 * @param name as {@link TransactionOptions#withName} says, or null
 * @param begun the stack that began it, or null without {@link DatabaseOptions#leakTraces}
 */
public record LeakedTransaction(
    long transactionId, @Nullable String name, @Nullable Throwable begun) {
  static void log(LeakedTransaction leak) {
    System.getLogger("org.revenantdb")
        .log(
            System.Logger.Level.WARNING,
            (leak.name() == null ? "a transaction" : "transaction \"" + leak.name() + "\"")
                + " was never committed, rolled back or closed; it has been rolled back; "
                + (leak.begun() == null
                    ? "open the database with leakTraces to see where it was begun"
                    : "it was begun here"),
            leak.begun());
  }
}
