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
   * Its commit was requested, and the client does not know the answer. It is committed if another
   * transaction has seen it. It may take effect until the end of its life, even after its client
   * has stopped to wait. So nothing comes after it because of time or because of its process.
   */
  UNKNOWN
}
