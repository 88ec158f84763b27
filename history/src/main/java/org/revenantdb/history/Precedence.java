package org.revenantdb.history;

/** Which transactions are ordered although they used no common key. */
public enum Precedence {
  /** None: a store may show an old state to a client that has not seen a newer one. */
  NONE,
  /** Transactions of one process, in its order: the <em>strong session</em> variant of a level. */
  SESSION,
  /**
   * A transaction that had ended before another began: the <em>strong</em> or <em>strict</em>
   * variant.
   */
  REAL_TIME
}
