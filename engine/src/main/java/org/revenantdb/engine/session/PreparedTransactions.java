package org.revenantdb.engine.session;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.catalog.Publication;
import org.revenantdb.engine.change.ChangeSteps;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.checkpoint.TransactionImage;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.restart.AbortedTransactions;
import org.revenantdb.recovery.restart.PreparedTransaction;

/**
 * The prepared transactions, which wait for their outcome, by name. Thread-safe; called inside the
 * gate, with nothing latched.
 */
public final class PreparedTransactions {
  /*
   * Protocol    docs/protocols.md §29. Under the lock the list, the words in the table of transactions, the ATM and
   *             the log change together, and the image of a checkpoint is taken: no PREPARE that it repeats lies behind
   *             the outcome.
   */

  /** Longest name, in bytes. */
  public static final int MAX_NAME = 256;

  /**
   * The greatest number of tables to which a prepared transaction may have written: a record is
   * small.
   */
  private static final int MAX_TABLES = 1_000;

  /**
   * All records together take at most this part of a segment: a quarter of the space that is kept
   * ready for records without credit. So a checkpoint can repeat them even on a full disk.
   */
  private static final int PART = 16;

  /** Under the key by which it is found: leaving the list allocates nothing. */
  private record Entry(ByteBuffer key, PreparedTransaction transaction) {}

  private final Storage storage;
  private final long most;
  private final PatientLock lock = new PatientLock();

  /** Under the lock. */
  private final Map<ByteBuffer, Entry> byName = new HashMap<>();

  /** Bytes of their records; under the lock. */
  private long bytes;

  /** The LSN of the last record about one of them. */
  private volatile long lastLsn;

  /**
   * Starts with those of former lives, which are in the table of transactions.
   *
   * @param segmentBytes size of a segment of the log
   */
  PreparedTransactions(
      Storage storage, long segmentBytes, Collection<PreparedTransaction> prepared) {
    this.storage = storage;
    this.most = segmentBytes / PART;
    prepared.forEach(one -> add(new Entry(ByteBuffer.wrap(one.name()), one)));
  }

  private void add(Entry entry) {
    byName.put(entry.key, entry);
    bytes += entry.transaction.recordBytes();
  }

  private void remove(Entry entry) {
    byName.remove(entry.key);
    bytes -= entry.transaction.recordBytes();
  }

  /**
   * Prepares a transaction.
   *
   * @param order publishes the record in its place among commits
   * @param ended called when the record is published and the session no longer owns the
   *     transaction; must not fail
   * @return the LSN of the record
   * @throws TransactionStateException with {@link TransactionStateException.Reason#NOT_PREPARABLE}
   *     if it cannot be: nothing has changed
   */
  public long prepare(PreparedTransaction transaction, Publication order, Runnable ended) {
    if (transaction.tables() > MAX_TABLES) {
      throw new TransactionStateException(
          TransactionStateException.Reason.NOT_PREPARABLE,
          "the transaction has written to "
              + transaction.tables()
              + " tables; a prepared transaction may have written to at most "
              + MAX_TABLES
              + ": commit it, or divide the work");
    }
    int credit = transaction.recordBytes();
    Entry entry = new Entry(ByteBuffer.wrap(transaction.name()), transaction);
    RecordBuilder record = transaction.build(new RecordBuilder());
    storage.space().acquire(credit, /* pages= */ 0);
    try {
      lock.lock();
      try {
        refuse(entry, credit);
        return prepare(entry, () -> order.publish(() -> storage.log().publish(record)), ended);
      } finally {
        lock.unlock();
      }
    } finally {
      storage.space().release(credit, /* pages= */ 0);
    }
  }

  private void refuse(Entry entry, int credit) {
    if (byName.containsKey(entry.key)) {
      throw new TransactionStateException(
          TransactionStateException.Reason.NOT_PREPARABLE,
          "a prepared transaction of this name exists already; commit it or roll it back, or use another name");
    }
    if (bytes + credit > most) {
      throw new TransactionStateException(
          TransactionStateException.Reason.NOT_PREPARABLE,
          byName.size()
              + " transactions are prepared and wait for their outcome, and a sixteenth of a log segment has no"
              + " room for another; commit them or roll them back");
    }
  }

  private long prepare(Entry entry, LongSupplier record, Runnable ended) {
    TransactionTable table = storage.transactions();
    long id = entry.transaction.id();
    table.prepare(id);
    add(entry); // before it is in the log: both may fail
    long lsn;
    try {
      lsn = record.getAsLong();
    } catch (Throwable failure) {
      table.notPrepared(id);
      remove(entry);
      throw failure;
    }
    published(
        lsn,
        () -> {
          table.prepared(id);
          ended.run();
        });
    return lsn;
  }

  /** Runs after a record: a failure stops the engine; else memory and log would differ (R18). */
  private void published(long lsn, Runnable inMemory) {
    try {
      storage.log().steps().at(ChangeSteps.Step.PUBLISHED);
    } catch (Throwable failure) {
      storage.log().fail(failure);
      throw failure;
    } finally {
      finish(lsn, inMemory);
    }
  }

  private void finish(long lsn, Runnable inMemory) {
    try {
      lastLsn = lsn;
      inMemory.run();
    } catch (Throwable failure) {
      storage.log().fail(failure);
      throw failure;
    }
  }

  /**
   * Commits one.
   *
   * @return the LSN of the record, 0 if there is none of that name
   */
  public long commit(byte[] name) {
    TransactionTable table = storage.transactions();
    return decide(
        name, RecordType.COMMIT, table::committing, table::stillPrepared, table::committed);
  }

  /**
   * Rolls one back.
   *
   * @return the LSN of the record, 0 if there is none of that name
   */
  public long rollback(byte[] name) {
    TransactionTable table = storage.transactions();
    AbortedTransactions aborted = table.aborted();
    // It was removed again without having been read there: the table has it as active.
    return decide(
        name, RecordType.ABORT, aborted::add, aborted::remove, (id, lsn) -> table.aborted(id));
  }

  /** Sets the outcome of a transaction, by its id and the LSN of the record. */
  @FunctionalInterface
  private interface Settle {
    void outcome(long id, long lsn);
  }

  /**
   * Gives a transaction its outcome.
   *
   * @param before runs before the record has a place
   * @param undo undoes that if the record could not be published
   * @throws OutcomeUnknownException if that has failed, and a restart may find the record
   */
  private long decide(
      byte[] name, RecordType type, LongConsumer before, LongConsumer undo, Settle settle) {
    ByteBuffer key = ByteBuffer.wrap(name);
    lock.lock();
    try {
      Entry entry = byName.get(key);
      if (entry == null || !storage.transactions().isPrepared(entry.transaction.id())) {
        return 0;
      }
      long id = entry.transaction.id();
      before.accept(id);
      long lsn;
      try {
        lsn = storage.log().publish(RecordBuilder.bare().begin(type, id));
      } catch (Throwable failure) {
        undo.accept(id);
        if (DurableOutcome.isPerhapsInLog(storage.log(), failure)) {
          throw undecided(failure);
        }
        throw failure;
      }
      published(
          lsn,
          () -> {
            settle.outcome(id, lsn);
            remove(entry);
          });
      storage.marks().longEnded();
      return lsn;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The exception for a caller whose decision may be in the log, or not.
   *
   * @param failure why the log failed
   */
  public static OutcomeUnknownException undecided(Throwable failure) {
    return new OutcomeUnknownException(
        "the log failed while the outcome of a prepared transaction was to become durable: open the database again, and"
            + " repeat the call if it is still prepared ("
            + Engine.why(failure)
            + ")",
        failure);
  }

  /**
   * The LSN of the last record about any of them. When it is durable, no crash can change what the
   * list contained (R10).
   */
  public long lastLsn() {
    return lastLsn;
  }

  /** Their names. */
  public List<byte[]> names() {
    lock.lock();
    try {
      return byName.values().stream().map(entry -> entry.transaction.name()).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Whether one of them has written to a table. */
  boolean haveWritten(int table) {
    lock.lock();
    try {
      return byName.values().stream().anyMatch(entry -> entry.transaction.hasWritten(table));
    } finally {
      lock.unlock();
    }
  }

  /**
   * For a checkpoint: publishes the records of all prepared transactions again, and returns the
   * image of all transactions.
   */
  public TransactionImage image() {
    lock.lock();
    try {
      Journal log = storage.log();
      RecordBuilder record = new RecordBuilder();
      TransactionTable table = storage.transactions();
      List<PreparedTransaction> undecided =
          byName.values().stream()
              .map(Entry::transaction)
              .filter(one -> table.isPrepared(one.id()))
              .toList();
      for (PreparedTransaction transaction : undecided) {
        log.publish(transaction.build(record));
      }
      long[] prepared = undecided.stream().mapToLong(PreparedTransaction::id).sorted().toArray();
      // An abort enters the ATM before it leaves the active transactions, so in this order
      // none is missed.
      long[] writing =
          Arrays.stream(table.writing())
              .filter(id -> Arrays.binarySearch(prepared, id) < 0)
              .toArray();
      long[] aborted = table.aborted().snapshot();
      return new TransactionImage(table.highestId(), writing, prepared, aborted);
    } finally {
      lock.unlock();
    }
  }
}
