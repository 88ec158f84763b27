package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * A transaction whose last reference was lost before it was committed, rolled back or closed. It
 * has been rolled back.
 *
 * @param transactionId its id, 0 if it had not written
 * @param name the name from {@link TransactionOptions#withName}, or null
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
