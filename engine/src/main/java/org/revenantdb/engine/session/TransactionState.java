package org.revenantdb.engine.session;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.Witness;
import org.revenantdb.latch.StackReserve;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The state of a transaction, and the way into it.
 *
 * <p>Threads: one at a time is inside, a second one is refused; any thread may ask for the state,
 * the id and the writer.
 */
public abstract sealed class TransactionState permits TransactionCore {
  /*
   * State       OPEN -> COMMITTED     its user                     CommitPath
   *                  -> PREPARED      its user                     PreparePath
   *                  -> ROLLED_BACK   its user, or it has leaked   RollbackPath
   *                  -> CLOSED        the end of the database      RollbackPath
   *             An open transaction may be spoilt: it can only be rolled back, in whole or to a savepoint. One that
   *             cannot be serialized any more can only be rolled back in whole.
   *
   * Entering    1  alone   the stack is sufficient for what follows under latches; one thread sets the mark
   *             2  gate    the transaction is open; the database is open until the gate is left
   *             3  leave   gate, then what may wait for the disk (the answer, R10), then the mark
   *
   * Ordering    state, id, committedAt and writer are written by the thread that is inside, with release, and read by
   *             any thread. No thread stores one of them and then has to see what another thread has stored meanwhile:
   *               a drop of a table looks at the writer and then at what that holds; to hold something ends with a
   *               full fence (Holds)
   *               a reader that meets the id in a row has latched its page, behind the store of the id
   *               the end of the database is behind the gate
   *             committedAt is stored before the state COMMITTED, which says to other threads that it is there.
   */
  private static final VarHandle IN_USE =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "inUse", VarHandle.class, TransactionState.class, boolean.class);

  private static final VarHandle STATE =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "state", VarHandle.class, TransactionState.class, State.class);

  private static final VarHandle ID =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "id", VarHandle.class, TransactionState.class, long.class);

  private static final VarHandle COMMITTED_AT =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(),
          "committedAt",
          VarHandle.class,
          TransactionState.class,
          long.class);

  private static final VarHandle WRITER =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(),
          "writer",
          VarHandle.class,
          TransactionState.class,
          RowWriter.class);

  /** The states of a transaction. */
  public enum State {
    OPEN,
    COMMITTED,
    ROLLED_BACK,
    PREPARED,
    CLOSED
  }

  private final Engine engine;
  private final int slot;
  private final TransactionOptions options;
  private final Reading reading;
  private final @Nullable Throwable begun;

  /** Its reads; null unless they have to be validated when it commits. */
  private final @Nullable SerialReads reads;

  @SuppressWarnings("UnusedVariable") // through IN_USE
  private boolean inUse;

  @SuppressWarnings("NullAway.Init") // through STATE, by the constructor
  private volatile State state;

  private volatile long id;

  /** Where the log has to be durable for the commit, and for what it has read. */
  private volatile long committedAt;

  private volatile @Nullable RowWriter writer;

  /** Whether its last step runs; of the thread that is inside it. */
  private boolean isInLastStep;

  /** Why it can only be rolled back. */
  private volatile @Nullable String spoilt;

  /** Whether that is because of its reads: no savepoint is far enough back. */
  private boolean cannotBeSerialized;

  TransactionState(
      Engine engine,
      int slot,
      long snapshot,
      TransactionOptions options,
      @Nullable Throwable begun,
      @Nullable SerialReads reads) {
    this.engine = engine;
    this.options = options;
    this.slot = slot;
    this.reading = new Reading(snapshot);
    this.begun = begun;
    this.reads = reads;
    STATE.set(this, State.OPEN); // no other thread has it yet
  }

  void setStateRelease(State now) {
    STATE.setRelease(this, now);
  }

  void setIdRelease(long given) {
    ID.setRelease(this, given);
  }

  void setCommittedAtRelease(long lsn) {
    COMMITTED_AT.setRelease(this, lsn);
  }

  void setWriterRelease(@Nullable RowWriter used) {
    WRITER.setRelease(this, used);
  }

  public Engine engine() {
    return engine;
  }

  /** The slot of its snapshot. */
  int slot() {
    return slot;
  }

  /** The state of its reads. */
  public Reading reading() {
    return reading;
  }

  public long snapshot() {
    return reading.snapshot();
  }

  /** Its id, 0 while it has not written. */
  public long id() {
    return id;
  }

  State state() {
    return state;
  }

  /** Called when its session no longer owns it. */
  void setPrepared() {
    setStateRelease(State.PREPARED);
  }

  public boolean isOpen() {
    return state == State.OPEN;
  }

  /** Where the log has to be durable for the commit, and for what it has read. */
  long committedAt() {
    return committedAt;
  }

  final TransactionOptions options() {
    return options;
  }

  Durability durability() {
    return Objects.requireNonNull(options.durability()); // the database has set it
  }

  boolean isSerializable() {
    return options.isolation() == Isolation.SERIALIZABLE;
  }

  /** Whether its reads have to be validated: not if it was begun read-only. */
  public boolean notesReads() {
    return reads != null;
  }

  /** Whether each statement has its own snapshot. */
  public boolean readsCommitted() {
    return options.isolation() == Isolation.READ_COMMITTED;
  }

  /** Says whether the last step of its commit runs, with the lock of the order (CommitPath). */
  void inLastStep(boolean isIn) {
    isInLastStep = isIn;
  }

  /** How long a statement waits for rows of open transactions; zero if it does not wait. */
  Duration lockTimeout() {
    if (isInLastStep) { // the other transaction may need the lock of the order to end
      return Duration.ZERO;
    }
    Duration own = options.lockTimeout();
    return own == null ? engine.options().lockTimeout() : own;
  }

  /** Whether it sleeps behind a transaction whose row it meets. */
  boolean waitsForRows() {
    return !lockTimeout().isZero();
  }

  /** Refuses a statement that would write, before it has read or recorded anything. */
  public void demandWrites() {
    if (options.readOnly()) {
      checkOpen();
      throw new TransactionStateException(
          TransactionStateException.Reason.READ_ONLY,
          "the transaction was begun with TransactionOptions.withReadOnly; begin one without to write");
    }
  }

  /** The stack that began it; null if it is not recorded. */
  @Nullable Throwable begun() {
    return begun;
  }

  /** The commit on which the results of this transaction depend. */
  public Witness witness() {
    return reading.witness();
  }

  /** Its reads, which are validated when it commits; null if they are not validated. */
  @Nullable SerialReads reads() {
    return reads;
  }

  /** The writer that it uses; null if it has not written, or has ended. */
  @Nullable RowWriter usedWriter() {
    return writer;
  }

  /** A record without content, from the writer if there is one, so that nothing is allocated. */
  RecordBuilder bareRecord() {
    RowWriter used = writer;
    return used == null ? RecordBuilder.bare() : used.bareRecord();
  }

  /** Enters the transaction; only one thread at a time is inside. */
  void enterAlone() {
    // Nothing is held yet: from here on the stack is sufficient for everything that follows.
    StackReserve.ensure();
    enterReserved();
  }

  /** As {@link #enterAlone}; the caller has checked that there is stack. */
  void enterReserved() {
    if (!IN_USE.compareAndSet(this, false, true)) {
      throw new TransactionStateException(
          TransactionStateException.Reason.IN_USE,
          "two threads use this transaction at the same time; another thread may use it only after the first has left it");
    }
  }

  /** The end of {@link #enterAlone}. */
  void leaveAlone() {
    IN_USE.setRelease(this, false);
  }

  <T extends @Nullable Object> T insideGate(Supplier<T> action) {
    checkOpen();
    return engine.insideReserved(action);
  }

  public void checkOpen() {
    switch (state) {
      case OPEN -> {
        if (cannotBeSerialized) {
          throw new TransactionStateException(
              TransactionStateException.Reason.ROLLBACK_ONLY,
              "other transactions have committed changes of what this transaction has read; roll it back and begin another");
        }
        String why = spoilt;
        if (why != null) {
          throw new TransactionStateException(
              TransactionStateException.Reason.ROLLBACK_ONLY,
              why + "; roll it back and begin another");
        }
      }
      case COMMITTED ->
          throw new TransactionStateException(
              TransactionStateException.Reason.FINISHED,
              "the transaction has been committed; begin another, or leave the commit to run and call");
      case ROLLED_BACK ->
          throw new TransactionStateException(
              TransactionStateException.Reason.FINISHED,
              "the transaction has been rolled back; begin another, or throw from the body of run and call");
      case PREPARED ->
          throw new TransactionStateException(
              TransactionStateException.Reason.PREPARED,
              "the transaction has been prepared; commit it or roll it back by its name, with the methods"
                  + " commitPrepared and rollbackPrepared of the database");
      case CLOSED ->
          throw new DatabaseClosedException(
              "the database was closed while this transaction was open; it has been rolled back");
    }
  }

  /** From now on it can only be rolled back: a failed statement has changed something. */
  public void spoil(String why) {
    spoilt = why;
  }

  /** Why it can only be rolled back; null if that is not so. */
  @Nullable String spoilt() {
    return spoilt;
  }

  void spoilt(@Nullable String why) {
    spoilt = why;
  }

  /** Called when something that it has read was changed: no savepoint is far enough back. */
  void setCannotBeSerialized() {
    cannotBeSerialized = true;
  }

  /** Its name from the options; null if it has none. */
  @Nullable String name() {
    return options.name();
  }
}
