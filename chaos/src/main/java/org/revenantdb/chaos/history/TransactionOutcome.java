package org.revenantdb.chaos.history;

/** What a client knows of a transaction that has ended, or whose process has. */
public enum TransactionOutcome {
  /** Committed, and no crash may take it back. */
  DURABLE,
  /** Committed, and a crash may take it back together with all that came after it. */
  LAZY,
  /** Rolled back, or its commit was never asked for. */
  ABORTED,
  /** Its commit was asked for and never answered: it is committed if anybody has seen it. */
  UNKNOWN
}
