package org.revenantdb.engine.version;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.txn.TransactionTable;

/**
 * Who reads, and what a read in progress has to remember: a transaction has one for all its reads,
 * so that none of them allocates. One thread at a time.
 */
public final class Reading {
  final Descent descent;
  final Witness witness;
  long snapshot;
  long self;

  private boolean notesPrepared;
  private Map<Long, LongSupplier> prepared = Map.of();

  /** Of the version that is being read: what became of its writer. */
  long status = TransactionTable.COMMITTED_FOR_ALL;

  /**
   * Of a transaction that has not written.
   *
   * @param snapshot what it sees
   */
  public Reading(long snapshot) {
    this(snapshot, new Descent(), new Witness());
  }

  /**
   * As {@link #Reading(long)}, with a descent of its own.
   *
   * @param snapshot what it sees
   * @param descent which notes where its reads are
   */
  public Reading(long snapshot, Descent descent) {
    this(snapshot, descent, new Witness());
  }

  private Reading(long snapshot, Descent descent, Witness witness) {
    this.snapshot = snapshot;
    this.descent = descent;
    this.witness = witness;
  }

  /** Of the same transaction, with another snapshot and a descent of its own. */
  public Reading at(long other) {
    Reading reading = new Reading(other, new Descent(), witness);
    reading.self = self;
    return reading;
  }

  /** Later reads see this. */
  public void advance(long later) {
    snapshot = later;
  }

  /** What it sees. */
  public long snapshot() {
    return snapshot;
  }

  /** From now on it notes which versions of prepared transactions it has passed over. */
  public void notePrepared() {
    notesPrepared = true;
  }

  /** Whether it does. */
  boolean notesPrepared() {
    return notesPrepared;
  }

  /** A version was not seen because of what has become of its writer until now. */
  void passedOver(long writer, TransactionTable transactions) {
    LongSupplier outcome = notesPrepared ? transactions.ofPrepared(writer) : null;
    if (outcome != null) {
      if (prepared.isEmpty()) {
        prepared = new LinkedHashMap<>();
      }
      prepared.put(writer, outcome);
    }
  }

  /** Whether it has passed over any since they were {@linkplain #takePrepared taken}. */
  public boolean hasPassedPrepared() {
    return !prepared.isEmpty();
  }

  /** Ids of prepared transactions that it has passed over, and what becomes of them. */
  public Map<Long, LongSupplier> takePrepared() {
    Map<Long, LongSupplier> taken = prepared;
    prepared = Map.of();
    return taken;
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
