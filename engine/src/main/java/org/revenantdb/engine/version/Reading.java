package org.revenantdb.engine.version;

import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.txn.TransactionTable;

/**
 * Who reads, and what a read in progress has to remember: a transaction has one for all its reads,
 * so that none of them allocates. One thread at a time.
 */
public final class Reading {
  final Descent descent;
  final long snapshot;
  final Witness witness = new Witness();
  long self;

  /** Of the version that is being read: what became of its writer. */
  long status = TransactionTable.COMMITTED_FOR_ALL;

  /**
   * Of a transaction that has not written.
   *
   * @param snapshot what it sees
   */
  public Reading(long snapshot) {
    this(snapshot, new Descent());
  }

  /**
   * As {@link #Reading(long)}, with a descent of its own.
   *
   * @param snapshot what it sees
   * @param descent which notes where its reads are
   */
  public Reading(long snapshot, Descent descent) {
    this.snapshot = snapshot;
    this.descent = descent;
  }

  /** What it sees. */
  public long snapshot() {
    return snapshot;
  }

  /** Told of every version that is returned, or is absent. */
  public Witness witness() {
    return witness;
  }

  /** The transaction has begun to write, under this id. */
  public void writesAs(long id) {
    self = id;
  }
}
