package org.revenantdb.history;

/** What a client knows about a transaction that has ended, or whose process has. */
public enum TransactionOutcome {
  /** Committed, and no crash may take it back. */
  DURABLE,
  /** Committed; a crash may take it back, together with everything that came after it. */
  LAZY,
  /** Rolled back, or its commit was never requested. */
  ABORTED,
  /**
   * Its commit was requested and never answered. It is committed if another transaction has seen
   * it.
   */
  UNKNOWN
}
