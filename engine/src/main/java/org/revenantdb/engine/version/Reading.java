package org.revenantdb.engine.version;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.txn.TransactionTable;

/**
 * The state of the reads of a transaction. A transaction has one object for all its reads, so that
 * no read allocates. For one thread at a time.
 */
public final class Reading {
  final Descent descent;
  final Witness witness;
  long snapshot;
  long self;

  private boolean notesPrepared;
  private Map<Long, LongSupplier> prepared = Map.of();

  /** The outcome of the writer of the version that is being read. */
  long status = TransactionTable.COMMITTED_FOR_ALL;

  /**
   * Makes an object for a transaction that has not written.
   *
   * @param snapshot its snapshot
   */
  public Reading(long snapshot) {
    this(snapshot, new Descent(), new Witness());
  }

  /**
   * As {@link #Reading(long)}, with its own descent.
   *
   * @param snapshot its snapshot
   * @param descent records the places of its reads
   */
  public Reading(long snapshot, Descent descent) {
    this(snapshot, descent, new Witness());
  }

  private Reading(long snapshot, Descent descent, Witness witness) {
    this.snapshot = snapshot;
    this.descent = descent;
    this.witness = witness;
  }

  /** An object for the same transaction, with another snapshot and its own descent. */
  public Reading at(long other) {
    Reading reading = new Reading(other, new Descent(), witness);
    reading.self = self;
    return reading;
  }

  /** Sets the snapshot of later reads. */
  public void advance(long later) {
    snapshot = later;
  }

  /** Its snapshot. */
  public long snapshot() {
    return snapshot;
  }

  /** From now on it records which versions of prepared transactions it has skipped. */
  public void notePrepared() {
    notesPrepared = true;
  }

  /** Whether it records these. */
  boolean notesPrepared() {
    return notesPrepared;
  }

  /** Called when a version was not visible because of the present outcome of its writer. */
  void passedOver(long writer, TransactionTable transactions) {
    LongSupplier outcome = notesPrepared ? transactions.ofPrepared(writer) : null;
    if (outcome != null) {
      if (prepared.isEmpty()) {
        prepared = new LinkedHashMap<>();
      }
      prepared.put(writer, outcome);
    }
  }

  /** Whether it has skipped any since they were {@linkplain #takePrepared taken}. */
  public boolean hasPassedPrepared() {
    return !prepared.isEmpty();
  }

  /** The ids of prepared transactions that it has skipped, with sources of their outcomes. */
  public Map<Long, LongSupplier> takePrepared() {
    Map<Long, LongSupplier> taken = prepared;
    prepared = Map.of();
    return taken;
  }

  /** Receives every version that is returned or is absent. */
  public Witness witness() {
    return witness;
  }

  /** Called when the transaction has begun to write, with this id. */
  public void writesAs(long id) {
    self = id;
  }
}
