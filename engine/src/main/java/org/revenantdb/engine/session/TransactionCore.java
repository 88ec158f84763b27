package org.revenantdb.engine.session;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.ReadOnlyTransactionException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableDroppedException;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.TransactionFinishedException;
import org.revenantdb.engine.TransactionInUseException;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.catalog.TableTrees;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowConflict;
import org.revenantdb.engine.version.RowReader;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.Witness;
import org.revenantdb.latch.StackReserve;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * A transaction without its face: what has to be ended when the face was forgotten.
 *
 * <p>One thread at a time is inside; a second one is refused.
 */
public final class TransactionCore {
  /*
   * State       OPEN -> COMMITTED | ROLLED_BACK | PREPARED (by its user) | CLOSED (rolled back by the end of the database)
   *
   * Commit      id COMMITTING in the table -> COMMIT published -> COMMITTED(lsn) -> snapshot given back -> durable: wait
   *             until that is so; it is acknowledged only then; if the log fails first the outcome is unknown. Lazy:
   *             acknowledged at once, forced within a time. From COMMITTED(lsn) on others see it.
   * Read        under latches, which tells the witness what the answer depends on -> latches and gate left -> durable:
   *             wait until that is durable -> answer (R10). A conflict is an answer, too. One that acts after its
   *             commit waits there; its own commit is behind all that it has read.
   * Prepare     in the list of those prepared, PREPARE published -> snapshot, writer and tables given back; the id stays
   *             active until somebody decides, and has nothing to do with this any more (protocols.md §29)
   * Tables      entered before the first write to each, looked at by who drops one (protocols.md §24). Created, dropped
   *             or truncated by itself: in a way of their own (protocols.md §31)
   * Abort       id in the ATM -> ABORT published -> ABORTED in the table (R1). Rows stay as they are: constant time.
   *             One that has written few rows puts them back itself -> FORGET published -> ABORTED (protocols.md §27)
   *
   * Ordering    Written by who is inside, with release, and read by anybody: state, id, committedAt, writer. Nobody
   *             stores one of them and then has to see what another has stored meanwhile: who drops a table looks at
   *             the writer and then at what that holds, and to hold something ends with a full fence (Holds); who meets
   *             an id in a row has latched its page, behind the store; the end of the database is behind the gate.
   *             committedAt comes before COMMITTED, which says to other threads that it is there.
   */
  private static final VarHandle IN_USE =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "inUse", VarHandle.class, TransactionCore.class, boolean.class);

  private static final VarHandle STATE =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "state", VarHandle.class, TransactionCore.class, State.class);

  private static final VarHandle ID =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "id", VarHandle.class, TransactionCore.class, long.class);

  private static final VarHandle COMMITTED_AT =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(),
          "committedAt",
          VarHandle.class,
          TransactionCore.class,
          long.class);

  private static final VarHandle WRITER =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(),
          "writer",
          VarHandle.class,
          TransactionCore.class,
          RowWriter.class);

  private static final VarHandle RUNNER =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "runner", VarHandle.class, TransactionCore.class, long.class);

  /** What a statement does about a row that has been committed since, where it may write it. */
  @FunctionalInterface
  public interface Renewal {
    /** With a new snapshot of the transaction's. */
    void run();
  }

  public static final Renewal NOTHING_READ = () -> {};

  /** What to do about a transaction that the same thread has open. */
  static final String OWN_CURE =
      "do this work in the transaction that is open, or end that one first";

  /** What has become of it. */
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

  /** What it has read; null unless that {@linkplain #notesReads has to be known}. */
  private final @Nullable SerialReads reads;

  @SuppressWarnings("UnusedVariable") // through IN_USE
  private boolean inUse;

  @SuppressWarnings("NullAway.Init") // through STATE, by the constructor
  private volatile State state;

  private volatile long id;

  /** Where the log has to be durable for the commit, and for what it has read. */
  private volatile long committedAt;

  private volatile @Nullable RowWriter writer;

  /** What it has made of tables; null while that is nothing. */
  private volatile @Nullable OwnTables ownTables;

  /** Whether there is a savepoint from before the first write. */
  private boolean hasSavepoint;

  /** Why it can only be rolled back. */
  private volatile @Nullable String spoilt;

  /** Whether that is because of what it has read: no savepoint is far enough back. */
  private boolean cannotBeSerialized;

  /** Whether it is an attempt of {@link Database#run}: others may sleep behind the next one. */
  private boolean isAttempt;

  /** The thread that runs it as an attempt, by its id, and alone can end it; else 0. */
  private volatile long runner;

  /** The snapshots of its cursors and streams; null if they read in that of the transaction. */
  private @Nullable KeptReadings kept;

  /** What it has of the attempts before it; null if there were none. */
  private @Nullable RepeatedAttempt repeated;

  /** What the last statement has met; of the thread that runs it. */
  private @Nullable RowConflict lastConflict;

  /** The row that it has not got, as it was in conflict. */
  private @Nullable Row contested;

  /** How often it was about to write; one thread at a time. */
  private long writes;

  public TransactionCore(
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
    STATE.set(this, State.OPEN); // nobody has it yet
    if (reads != null) {
      reads.snapshot(reading.snapshot());
      reading.notePrepared();
    }
  }

  /** Of a transaction that ended without one: all that it does is to say so. */
  public static TransactionCore ended(
      Engine engine, int slot, long snapshot, TransactionOptions options, State state) {
    TransactionCore core = new TransactionCore(engine, slot, snapshot, options, null, null);
    core.setStateRelease(state);
    return core;
  }

  void setStateRelease(State now) {
    STATE.setRelease(this, now);
  }

  private void setIdRelease(long given) {
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

  /** Of the snapshot that it reads in. */
  int slot() {
    return slot;
  }

  /** What its reads need. */
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

  /** Its session has nothing to do with it any more. */
  void setPrepared() {
    setStateRelease(State.PREPARED);
  }

  /** Where the log has to be durable for the commit, and for what it has read. */
  long committedAt() {
    return committedAt;
  }

  Durability durability() {
    return options.durability();
  }

  /** The stack that began it; null if nobody wants to know. */
  @Nullable Throwable begun() {
    return begun;
  }

  public boolean isOpen() {
    return state == State.OPEN;
  }

  /** What the answers to this transaction depend on. */
  public Witness witness() {
    return reading.witness();
  }

  /** Whether it has to know what it has read: not one that was begun to read alone. */
  public boolean notesReads() {
    return reads != null;
  }

  /** What it has read, to be validated when it commits; null if nobody validates that. */
  @Nullable SerialReads reads() {
    return reads;
  }

  boolean isSerializable() {
    return options.isolation() == Isolation.SERIALIZABLE;
  }

  /** Notes what a serializable transaction is about to read. */
  public void note(Consumer<SerialReads> what) {
    SerialReads own = reads;
    if (own != null) {
      alone(() -> what.accept(own));
    }
  }

  /** Whether each statement has a snapshot of its own. */
  public boolean readsCommitted() {
    return options.isolation() == Isolation.READ_COMMITTED;
  }

  /** A statement begins: what is read committed sees what is committed now. */
  public void beginStatement() {
    if (readsCommitted()) {
      alone(this::advance);
    }
  }

  /**
   * A statement begins that writes to a table: what is read committed holds that before it looks at
   * it.
   */
  public void beginStatement(Table table) {
    TableState.of(Objects.requireNonNull(table, "table")).demandOf(engine);
    demandWrites();
    if (readsCommitted()) {
      inside(() -> {
        RowWriter held = writer(table);
        advance();
        return held;
      });
    }
  }

  /** Inside the gate: another snapshot, not before it is known that the slot is still its own. */
  void advance() {
    reading.advance(engine.snapshots().advance(slot, engine.clock()));
  }

  /** What a cursor or a stream is to read in; to be {@linkplain #letGo given back}. */
  public @Nullable KeptReading keepReading() {
    return readsCommitted() ? inside(() -> keptReadings().open(this)) : null;
  }

  private KeptReadings keptReadings() {
    KeptReadings own = kept;
    if (own == null) {
      own = new KeptReadings(engine);
      kept = own;
    }
    return own;
  }

  /** The snapshots of its cursors and streams; null if it never had one. */
  @Nullable KeptReadings kept() {
    return kept;
  }

  /** A cursor or a stream has ended. */
  public void letGo(@Nullable KeptReading used) {
    if (used == null || state != State.OPEN) {
      return; // its slot went with the transaction's
    }
    try {
      alone(() -> {
        KeptReadings own = kept;
        if (own != null) {
          own.close(used);
        }
      });
    } catch (DatabaseClosedException
        | TransactionFinishedException
        | TransactionInUseException atItsEnd) {
      // then it goes with the transaction
    }
  }

  /** Runs something that nobody is told of. */
  private void alone(Runnable action) {
    enterAlone();
    try {
      insideGate(() -> {
        action.run();
        return null;
      });
    } finally {
      leaveAlone();
    }
  }

  /**
   * Runs something inside the transaction and the database. What it returns or throws is handed out
   * only when this transaction may know it.
   */
  public <T extends @Nullable Object> T inside(Supplier<T> action) {
    enterAlone();
    try {
      T answer;
      try {
        answer = insideGate(action);
        PreparedWait.awaitPassed(this);
      } catch (ConflictException | TableDroppedException told) {
        awaitAnswer();
        throw told;
      }
      awaitAnswer();
      return answer;
    } finally {
      leaveAlone();
    }
  }

  /**
   * Runs a statement that writes rows of a table, inside the transaction and the database. If it
   * meets a row of an open transaction and there is a lock timeout, it is run again when that
   * transaction has ended. If it meets a row that was committed since, and this transaction reads
   * committed, it is run again in a new snapshot. What it did before stays done.
   *
   * @param met reports the conflict; null if the writer does
   * @param renewal reads again what the statement depends on, before it is run in a new snapshot
   */
  public RowWriter.Outcome write(
      Table table,
      @Nullable RowConflict met,
      Function<RowWriter, RowWriter.Outcome> statement,
      Renewal renewal) {
    return WriteStatement.run(this, table, met, statement, renewal);
  }

  /** How long a statement waits for rows of open transactions; zero if it does not wait. */
  Duration lockTimeout() {
    Duration own = options.lockTimeout();
    return own == null ? engine.options().lockTimeout() : own;
  }

  private RowWaiters rowWaiters() {
    return engine.storage().transactions().rowWaiters();
  }

  /**
   * It is an attempt of {@link Database#run}.
   *
   * @param before what has become of the attempts before; null if there were none
   */
  public void attempt(@Nullable Retry before) {
    isAttempt = true;
    RUNNER.setOpaque(this, Thread.currentThread().threadId());
    if (before != null) {
      RepeatedAttempt own = new RepeatedAttempt(engine.storage().transactions(), before);
      repeated = own;
      if (!options.readOnly()) {
        engine.snapshots().writes(slot); // it will: deleted rows stay from now on (protocols, §41)
      }
      own.takeHeirs(before);
    }
  }

  /** The number of the attempt, from 1. */
  public int attempt() {
    RepeatedAttempt own = repeated;
    return own == null ? 1 : own.number();
  }

  /** Why the attempt before this one failed; null if there was none. */
  public @Nullable ConflictException previousConflict() {
    RepeatedAttempt own = repeated;
    return own == null ? null : own.previousConflict();
  }

  /** Whether it is an attempt of {@link Database#run}. */
  boolean isAttempt() {
    return isAttempt;
  }

  /** The row that the last statement was in conflict about; for the thread that is inside. */
  @Nullable RowConflict lastConflict() {
    return lastConflict;
  }

  void lastConflict(@Nullable RowConflict met) {
    lastConflict = met;
  }

  /**
   * The attempt has not got this row: transactions that sleep behind it are to inherit the wait.
   */
  void contested(Row row) {
    contested = row;
  }

  /** The tables that it has changed; null if there are none. */
  @Nullable OwnTables ownTables() {
    return ownTables;
  }

  void ownTables(OwnTables changed) {
    ownTables = changed;
  }

  /** Whether what it overwrites is kept, from its first write on. */
  boolean hasSavepoint() {
    return hasSavepoint;
  }

  void hasSavepoint(boolean keeps) {
    hasSavepoint = keeps;
  }

  /** What it has of the attempts before it; null if there were none. */
  @Nullable RepeatedAttempt repeated() {
    return repeated;
  }

  /** The writer that it uses; null if it has not written, or has ended. */
  @Nullable RowWriter usedWriter() {
    return writer;
  }

  /** A record without content, if need be from the writer, so that nothing is allocated. */
  RecordBuilder bareRecord() {
    RowWriter used = writer;
    return used == null ? RecordBuilder.bare() : used.bareRecord();
  }

  /** Whether it sleeps behind a transaction whose row it meets. */
  boolean waitsForRows() {
    return !lockTimeout().isZero();
  }

  /**
   * Takes the transactions that sleep behind it for the row that it has not got, before it is
   * rolled back.
   */
  RowWaiters.@Nullable Inheritance takeHeirs() {
    RepeatedAttempt own = repeated;
    RowWaiters.Inheritance inherited = own == null ? null : own.giveHeirs();
    Row row = contested;
    return inherited != null || row == null ? inherited : rowWaiters().take(id, row);
  }

  /** What to do after a conflict with others, for who catches it. */
  String cure() {
    return isAttempt
        ? "let the exception leave the work, then it is rolled back and done again"
        : "roll back and try again, or use Database.run, which does";
  }

  /**
   * Whether this very thread has it open: it runs it as an attempt, or, of one that was begun
   * otherwise, was the last to write with it (protocols.md §32).
   */
  boolean isOfThisThread() {
    return thread() == Thread.currentThread().threadId();
  }

  /** The thread, by its id, for which whoever wants a row of this transaction waits; 0 if none. */
  long thread() {
    long runs = runner;
    Holds holds = holds();
    return runs != 0 ? runs : holds == null ? 0 : holds.thread();
  }

  /** As {@link RowReader#read(Tree, byte[], Reading, byte[], int)}; allocates nothing. */
  public int read(Tree tree, byte[] key, byte[] into, int at) {
    enterAlone();
    try {
      checkOpen();
      int stripe = engine.gate().enter();
      int length;
      try {
        length = engine.reader().read(tree, key, reading, into, at);
      } finally {
        engine.gate().exit(stripe);
      }
      awaitAnswer();
      return length;
    } finally {
      leaveAlone();
    }
  }

  <T extends @Nullable Object> T insideGate(Supplier<T> action) {
    checkOpen();
    return engine.insideReserved(action);
  }

  /** With nothing latched, and outside of the gate: it may wait for the disk. */
  void awaitAnswer() {
    if (options.durability() == Durability.DURABLE && !options.actsAfterCommit()) {
      awaitWitnessed();
    }
  }

  void awaitWitnessed() {
    if (engine.storage().log().durableLsn() >= reading.witness().lsn()) {
      return;
    }
    long start = System.nanoTime();
    engine.awaitDurable(reading.witness().lsn());
    engine.storage().counters().durableReadWaits.increment();
    engine.storage().counters().durableReadWaitNanos.add(System.nanoTime() - start);
  }

  /** One thread at a time is inside. */
  void enterAlone() {
    StackReserve.ensure(); // nothing is held yet: from here on the stack does for all that follows
    if (!IN_USE.compareAndSet(this, false, true)) {
      throw new TransactionInUseException(
          "two threads use this transaction at the same time; hand it over only when the first has left it");
    }
  }

  /** The end of {@link #enterAlone}. */
  void leaveAlone() {
    IN_USE.setRelease(this, false);
  }

  /** From now on it can only be rolled back: a statement that threw has changed something. */
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

  /** What it has read was changed: no savepoint is far enough back. */
  void setCannotBeSerialized() {
    cannotBeSerialized = true;
  }

  public void checkOpen() {
    switch (state) {
      case OPEN -> {
        if (cannotBeSerialized) {
          throw new TransactionFinishedException(
              "what this transaction has read was changed by others, who have committed; roll it back and begin another");
        }
        String why = spoilt;
        if (why != null) {
          throw new TransactionFinishedException(why + "; roll it back and begin another");
        }
      }
      case COMMITTED ->
          throw new TransactionFinishedException(
              "the transaction has been committed; begin another");
      case ROLLED_BACK ->
          throw new TransactionFinishedException(
              "the transaction has been rolled back; begin another");
      case PREPARED ->
          throw new TransactionFinishedException(
              "the transaction has been prepared; commit it or roll it back by its name, with the database's"
                  + " commitPrepared and rollbackPrepared");
      case CLOSED ->
          throw new DatabaseClosedException(
              "the database was closed while this transaction was open; it has been rolled back");
    }
  }

  /**
   * The writer of rows of a table. From now on the table cannot be dropped or truncated until this
   * transaction has ended.
   *
   * @throws TableDroppedException if the table was dropped
   * @throws ConflictException if another transaction is dropping the table, or has truncated it
   *     after this one began
   */
  public RowWriter writer(Table table) {
    RowWriter current = writer();
    Holds holds = current.holds();
    if (!holds.has(table)) {
      TablesSeen.enter(this, holds, table);
    }
    return current;
  }

  /** A table is this transaction's until its end; whether it was not before. */
  boolean hold(Table table) {
    Holds holds = writer().holds();
    if (holds.has(table)) {
      return false;
    }
    holds.enter(table);
    return true;
  }

  /** Whether it has dropped or truncated a table; for the thread that has it open. */
  boolean hasTaken(Table table) {
    OwnTables own = ownTables;
    return own != null && own.holds(table);
  }

  /** Takes back the last {@link #hold}. */
  public void letGo() {
    writer().holds().leave();
  }

  /**
   * For who drops a table, and has said so before: what this transaction holds as long as it is
   * open; null if it has not written.
   */
  @Nullable Holds holds() {
    RowWriter current = writer;
    return current == null ? null : current.holds();
  }

  /**
   * The trees that a table has for this transaction.
   *
   * @throws TableDroppedException if it was dropped before this began, or by this
   */
  public TableTrees trees(Table table) {
    return trees(table, snapshot());
  }

  /** The same, for what is read in a snapshot of its own. */
  public TableTrees trees(Table table, long snapshot) {
    return TablesSeen.trees(this, table, snapshot);
  }

  /** Creates a table. */
  public Table createTable(String name, TableOptions options) {
    return TableChanges.create(this, name, options);
  }

  /** Drops a table. */
  public void dropTable(Table table) {
    TableChanges.drop(this, table);
  }

  /** Truncates a table. */
  public void truncate(Table table) {
    TableChanges.truncate(this, table);
  }

  /** A table as this transaction sees it; null if there is none. */
  public @Nullable Table findTable(String name) {
    return inside(() -> TablesSeen.find(this, name));
  }

  /** What people call it; null if nothing. */
  @Nullable String name() {
    return options.name();
  }

  /** Refuses a statement that would write, before it has read or noted anything. */
  public void demandWrites() {
    if (options.readOnly()) {
      checkOpen();
      throw new ReadOnlyTransactionException(
          "the transaction was begun with TransactionOptions.withReadOnly; begin one without to write");
    }
  }

  /** The writer of rows; with the first call the transaction gets its id. */
  RowWriter writer() {
    writes++;
    RowWriter current = writer;
    return current != null ? current : beginWriting();
  }

  private RowWriter beginWriting() {
    if (engine.options().readOnly()) {
      throw new ReadOnlyDatabaseException("the database was opened read-only; open it for writing");
    }
    demandWrites();
    RowWriter taken = engine.takeWriter();
    taken.begin(engine.options().shortTransactionRows());
    if (hasSavepoint) {
      taken.savepoint();
    }
    setIdRelease(engine.storage().transactions().enter()); // before there is a writer: it may fail
    setWriterRelease(taken);
    engine.snapshots().writes(slot);
    reading.writesAs(id);
    KeptReadings cursors = kept;
    if (cursors != null) {
      cursors.writesAs(id);
    }
    RepeatedAttempt former = repeated;
    if (former != null) {
      former.bequeath(id);
    }
    return taken;
  }

  /** How much it has overwritten so far; from now on that is kept (R14). */
  public int savepoint() {
    return inside(() -> SavepointSteps.set(this));
  }

  /** What it has overwritten needs not be kept any more. */
  public void noSavepoint() {
    inside(() -> SavepointSteps.release(this));
  }

  /** Gives all rows back what they had at a savepoint. */
  public void rollbackTo(int savepoint) {
    SavepointSteps.goBack(this, savepoint);
  }

  /** It is about to write: rows that cursors have read ahead may not be so any more. */
  void countWrite() {
    writes++;
  }

  /** A number that is another one after each write of this transaction. */
  public long writes() {
    return writes;
  }

  /** Commits, and waits until that is durable if it has to be. */
  public void commit() {
    CommitPath.commit(this);
  }

  /** Prepares; whether there is something to be decided upon. Durable on return. */
  public boolean prepare(byte[] name) {
    return PreparePath.prepare(this, name);
  }

  /** Commits; if that has to be durable, the force is on its way on return. */
  public void commitAsync() {
    CommitPath.commitAsync(this);
  }

  /** Completed when the commit is durable, and all that it has read. */
  public CompletionStage<@Nullable Void> onDurable() {
    return DurableOutcome.stage(this);
  }

  /** What it says on its way out, without a commit, is an answer too (R10). */
  public void awaitToldWithoutCommit() {
    if (state == State.ROLLED_BACK
        && options.durability() == Durability.DURABLE
        && options.actsAfterCommit()) {
      awaitWitnessed();
    }
  }

  /** Rolls back; nothing happens if the transaction has ended. */
  public void rollback() {
    RollbackPath.rollback(this, /* putsBack= */ true);
  }

  /** The database ends: nobody is inside it. */
  public void databaseCloses() {
    RollbackPath.databaseCloses(this);
  }

  /** The user has forgotten it: nobody can be inside any more. */
  void forgotten() {
    RollbackPath.forgotten(this);
  }
}
