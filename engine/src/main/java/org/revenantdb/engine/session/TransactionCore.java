package org.revenantdb.engine.session;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.LeakedTransaction;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.PrepareException;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.ReadOnlyTransactionException;
import org.revenantdb.engine.SerializationConflictException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableDroppedException;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.TransactionFinishedException;
import org.revenantdb.engine.TransactionInUseException;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.catalog.TableTrees;
import org.revenantdb.engine.change.AfterPublish;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.serial.ChangedException;
import org.revenantdb.engine.serial.Commit;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.txn.Holds;
import org.revenantdb.engine.txn.RowTurns;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowConflict;
import org.revenantdb.engine.version.RowRange;
import org.revenantdb.engine.version.RowReader;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.Witness;
import org.revenantdb.latch.StackReserve;
import org.revenantdb.recovery.file.EngineWork;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.restart.PreparedTransaction;

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

  /** Leaves that are looked at before others may close or check the database. */
  private static final int LEAVES_AT_ONCE = 64;

  /**
   * How often all is looked at, where others have committed one does not know what meanwhile; then
   * that is a conflict.
   */
  private static final int MOST_LOOKS = 3;

  /** So many rows of an attempt are told to those who wait for their turn. */
  private static final int FEW_ROWS = 16;

  public static final Renewal NOTHING_READ = () -> {};

  /** What to do about a transaction that the same thread has open. */
  static final String OWN_CURE =
      "do this work in the transaction that is open, or end that one first";

  @SuppressWarnings("UnnecessaryLambda") // made before it is needed
  private static final LongFunction<Commit> NO_ROWS =
      lsn -> new Commit(lsn, List.of(), /* isKnown= */ true, List.of(), List.of());

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

  /** While it is being committed or prepared: what it was validated against. */
  private Certifier.@Nullable Validated validated;

  /** What cursors and streams read in, where the transaction's snapshot goes on. */
  private List<KeptReading> kept = List.of();

  /** Which one, from 1. */
  private int attempt = 1;

  /** Why the attempt before this one failed; null if there was none. */
  private @Nullable ConflictException previousConflict;

  /** The turn that ends with it; null if it has none. */
  private RowTurns.@Nullable Turn turn;

  /** Those that sleep behind this one as soon as it has an id. */
  private RowWaiters.@Nullable Inheritance heirs;

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

  private void setStateRelease(State now) {
    STATE.setRelease(this, now);
  }

  private void setIdRelease(long given) {
    ID.setRelease(this, given);
  }

  private void setCommittedAtRelease(long lsn) {
    COMMITTED_AT.setRelease(this, lsn);
  }

  private void setWriterRelease(@Nullable RowWriter used) {
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
    if (!readsCommitted()) {
      return null;
    }
    return inside(() -> {
      List<KeptReading> more = new ArrayList<>(kept); // before there is a slot to be lost
      int another = engine.snapshots().open(engine.clock());
      try {
        KeptReading fresh =
            new KeptReading(another, reading.at(engine.snapshots().snapshot(another)));
        more.add(fresh);
        engine.open().keep(another, this);
        kept = more;
        return fresh;
      } catch (Throwable noMemory) {
        engine.open().end(another);
        engine.snapshots().close(another);
        throw noMemory;
      }
    });
  }

  /** A cursor or a stream has ended. */
  public void letGo(@Nullable KeptReading used) {
    if (used == null || state != State.OPEN) {
      return; // its slot went with the transaction's
    }
    try {
      alone(() -> {
        if (used.isLast() && kept.remove(used)) {
          engine.open().end(used.slot());
          engine.snapshots().close(used.slot());
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
   * It is an attempt of {@link Database#run}; those who slept behind the last one go with it.
   *
   * @param before what has become of others; null if there were none
   */
  public void attempt(@Nullable Retry before) {
    isAttempt = true;
    RUNNER.setOpaque(this, Thread.currentThread().threadId());
    if (before != null) {
      attempt = before.attempts().made() + 1;
      previousConflict = before.attempts().last();
      if (!options.readOnly()) {
        engine.snapshots().writes(slot); // it will: deleted rows stay from now on (protocols, §41)
      }
      heirs = before.takeHeirs();
      turn = before.turn();
    }
  }

  /** The rows that it has written, unless they are more than a few. */
  List<Row> fewWritten() {
    List<Row> rows = new ArrayList<>();
    RowWriter used = writer;
    if (used != null) {
      used.forEachWritten((tree, key) -> {
        if (rows.size() < FEW_ROWS) {
          rows.add(new Row(tree, key));
        }
      });
    }
    return rows;
  }

  /** The number of the attempt, from 1. */
  public int attempt() {
    return attempt;
  }

  /** Why the attempt before this one failed; null if there was none. */
  public @Nullable ConflictException previousConflict() {
    return previousConflict;
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

  /** Whether it has a savepoint from before its first write. */
  boolean hasSavepoint() {
    return hasSavepoint;
  }

  /** Whether it sleeps behind a transaction whose row it meets. */
  boolean waitsForRows() {
    return !lockTimeout().isZero();
  }

  /** Takes those who sleep behind it for the row that it has not got, before it is rolled back. */
  RowWaiters.@Nullable Inheritance takeHeirs() {
    RowWaiters.Inheritance kept = heirs;
    heirs = null;
    Row row = contested;
    return kept != null || row == null ? kept : rowWaiters().take(id, row);
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

  private void awaitWitnessed() {
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
    if (current == null) {
      if (engine.options().readOnly()) {
        throw new ReadOnlyDatabaseException(
            "the database was opened read-only; open it for writing");
      }
      demandWrites();
      current = engine.takeWriter();
      current.begin(engine.options().shortTransactionRows());
      if (hasSavepoint) {
        current.savepoint();
      }
      setIdRelease(
          engine.storage().transactions().enter()); // before there is a writer: it may fail
      setWriterRelease(current);
      engine.snapshots().writes(slot);
      reading.writesAs(id);
      kept.forEach(one -> one.reading().writesAs(id));
      RowWaiters.Inheritance inherited = heirs;
      if (inherited != null) {
        heirs = null;
        rowWaiters().give(inherited, id);
      }
    }
    return current;
  }

  /** How much it has overwritten so far; from now on that is kept (R14). */
  public int savepoint() {
    return inside(() -> {
      hasSavepoint = true;
      RowWriter current = writer;
      return current == null ? 0 : current.savepoint();
    });
  }

  /** What it has overwritten needs not be kept any more. */
  public void noSavepoint() {
    inside(() -> {
      hasSavepoint = false;
      RowWriter current = writer;
      if (current != null) {
        current.noSavepoint();
      }
      return null;
    });
  }

  /** Gives all rows back what they had at a savepoint. */
  public void rollbackTo(int savepoint) {
    enterAlone();
    try {
      String before = spoilt;
      spoilt = null; // by a statement after the savepoint
      try {
        insideGate(() -> {
          RowWriter current = writer;
          if (current != null) {
            writes++;
            try {
              current.goBackTo(savepoint, id, snapshot());
            } finally {
              rowWaiters().gaveBack(id); // some of them, if it failed
            }
          }
          return null;
        });
      } catch (Throwable failure) {
        spoil(before == null ? "a rollback to a savepoint failed half way" : before);
        throw failure;
      }
    } finally {
      leaveAlone();
    }
  }

  /** A number that is another one after each write of this transaction. */
  public long writes() {
    return writes;
  }

  /** Commits, and waits until that is durable if it has to be. */
  public void commit() {
    publishCommitAlone();
    if (options.durability() == Durability.LAZY) {
      return;
    }
    if (id == 0) {
      awaitWitnessed();
      return;
    }
    try {
      engine.storage().log().awaitDurable(committedAt);
    } catch (org.revenantdb.recovery.log.OutcomeUnknownException | LogStoppedException e) {
      throw outcomeUnknown(e);
    }
  }

  /** Prepares; whether there is something to be decided upon. Durable on return. */
  public boolean prepare(byte[] name) {
    enterAlone();
    try {
      publishValidated(() -> {
        if (id == 0) {
          publishCommit();
          return;
        }
        OwnTables own = ownTables;
        if (own != null && !own.isEmpty()) {
          throw new PrepareException(
              "the transaction has created, dropped or truncated tables, and cannot be prepared: commit it, or do that"
                  + " in a transaction of its own");
        }
        List<Integer> tables = new ArrayList<>();
        Holds holds = holds();
        if (holds != null) {
          holds.forEach(table -> tables.add(TableState.of((Table) table).newest().id()));
        }
        int[] ids = tables.stream().mapToInt(Integer::intValue).toArray();
        PreparedTransaction prepared = new PreparedTransaction(id, name, ids);
        try {
          setCommittedAtRelease(
              engine
                  .prepared()
                  .prepare(prepared, this::publishInOrder, () -> setStateRelease(State.PREPARED)));
        } finally {
          if (state == State.PREPARED) {
            end(State.PREPARED);
          }
        }
      });
    } catch (ConflictException told) {
      awaitAnswer();
      throw told;
    } catch (PrepareException told) {
      engine.awaitDurable(
          engine.prepared().lastLsn()); // a crash may not take back who has the name
      throw told;
    } finally {
      leaveAlone();
    }
    if (id == 0) {
      awaitWitnessed(); // a lazy one, too: others decide by this answer
      return false;
    }
    try {
      engine.storage().log().awaitDurable(committedAt);
    } catch (org.revenantdb.recovery.log.OutcomeUnknownException | LogStoppedException e) {
      throw outcomeUnknown(e);
    }
    return true;
  }

  /** Commits; if that has to be durable, the force is on its way on return. */
  public void commitAsync() {
    publishCommitAlone();
    if (options.durability() == Durability.DURABLE) {
      engine.storage().log().requestFlush(committedAt);
    }
  }

  /** Completed when the commit is durable, and all that it has read. */
  public CompletionStage<@Nullable Void> onDurable() {
    if (state != State.COMMITTED) {
      throw new Misuse.OfState("the transaction has not been committed");
    }
    Journal log = engine.storage().log();
    long lsn = committedAt;
    CompletableFuture<@Nullable Void> durable = new CompletableFuture<>();
    if (log.durableLsn() >= lsn) {
      durable.complete(null);
      return durable;
    }
    EngineWork awaits =
        EngineWork.of(
            () -> {
              log.awaitDurableUnasked(lsn);
              durable.complete(null);
            },
            e -> completeWith(durable, e));
    try {
      Thread.ofVirtual()
          .name("revenant-durable")
          .inheritInheritableThreadLocals(false)
          .start(awaits);
    } catch (OutOfMemoryError noThread) {
      durable.completeExceptionally(outcomeUnknown(noThread)); // it has committed: no exception
    }
    return durable.minimalCompletionStage();
  }

  /** Somebody waits for it, so it is repeated until there is memory for it. */
  @SuppressWarnings("ThreadPriorityCheck") // only a hint: memory may come from another thread
  private void completeWith(CompletableFuture<@Nullable Void> durable, Throwable failure) {
    while (!durable.isDone()) {
      try {
        durable.completeExceptionally(outcomeUnknown(failure));
      } catch (OutOfMemoryError notNow) {
        Thread.yield();
      }
    }
  }

  private OutcomeUnknownException outcomeUnknown(Throwable failure) {
    return new OutcomeUnknownException(
        (id == 0
                ? "the log failed while a transaction waited until what it has read was durable: what it was told is"
                    + " uncertain"
                : "the log failed while transaction "
                    + id
                    + " waited to become durable: its outcome is unknown")
            + " until the database has been opened again; look for its effects before you repeat it ("
            + Engine.why(failure)
            + ")",
        failure);
  }

  private void publishCommitAlone() {
    enterAlone();
    try {
      publishValidated(this::publishCommit);
    } catch (ConflictException told) {
      awaitAnswer();
      throw told;
    } finally {
      leaveAlone();
    }
    if (id == 0) {
      return;
    }
    switch (options.durability()) {
      case LAZY -> engine.committedLazily(committedAt);
      case DURABLE -> engine.storage().counters().durableCommits.increment();
    }
    engine.pokeCleaner();
  }

  /** What a serializable transaction was validated against is not all that it has missed. */
  private static final class StaleException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StaleException() {
      super(null, null, /* enableSuppression= */ false, /* writableStackTrace= */ false);
    }
  }

  /**
   * Runs what publishes an outcome, inside the gate; of a serializable one behind a look at all.
   */
  private void publishValidated(Runnable publication) {
    if (reads == null) {
      publishInside(publication);
      return;
    }
    for (int looks = 1; ; looks++) {
      validated = validate();
      try {
        publishInside(publication);
        return;
      } catch (StaleException e) {
        if (looks == MOST_LOOKS) {
          throw changed(0);
        }
      } finally {
        validated = null;
      }
    }
  }

  private void publishInside(Runnable publication) {
    int stripe = engine.gate().enter();
    try {
      checkOpen();
      publication.run();
    } catch (LogStoppedException e) {
      throw Engine.stopped(e);
    } finally {
      engine.gate().exit(stripe);
    }
  }

  /** Outside of the gate: it may take as long as all that was read. */
  private Certifier.@Nullable Validated validate() {
    SerialReads own = reads;
    if (own == null || isAsOfItsSnapshot(own)) {
      return null;
    }
    checkOpen();
    try {
      return engine.certifier().validate(own, this::isChanged);
    } catch (ChangedException told) {
      throw changed(told.lsn());
    }
  }

  /**
   * Whether it has read what was committed when it began, and done no more. Where somebody was
   * prepared meanwhile, it may have been before or after that.
   */
  private boolean isAsOfItsSnapshot(SerialReads own) {
    return id == 0
        && !own.isOfNow()
        && !engine.storage().transactions().hasPreparedAbove(snapshot());
  }

  private SerializationConflictException changed(long lsn) {
    cannotBeSerialized = true;
    long dependsOn = lsn != 0 ? lsn : engine.storage().log().tail();
    witness().saw(dependsOn);
    return ApiAccess.api()
        .serializationConflict(
            "what this serializable transaction has read was changed by another that has committed since",
            cure());
  }

  private boolean isChanged(Tree tree, byte[] from, byte @Nullable [] to) {
    RowRange range = new RowRange(engine.storage(), engine.reader(), tree, reading, from, to);
    boolean changed = false;
    while (!changed && range.hasMore()) {
      changed =
          insideGate(() -> {
            boolean found = false;
            for (int leaf = 0; leaf < LEAVES_AT_ONCE && !found && range.hasMore(); leaf++) {
              found = range.findChange();
            }
            return found;
          });
    }
    return changed;
  }

  private void publishCommit() {
    if (id == 0 && isSerializable()) {
      witness().saw(engine.prepared().lastLsn()); // also that one was rolled back
    }
    if (id == 0 && validated != null) {
      endReading();
      return;
    }
    if (id == 0) {
      setCommittedAtRelease(reading.witness().lsn());
      end(State.COMMITTED);
      return;
    }
    OwnTables own = ownTables;
    if (own == null || own.isEmpty()) {
      publishOutcome();
      endOwn(own);
    } else {
      engine.tables().commit(this, own, this::publishOutcome);
    }
  }

  private static void endOwn(@Nullable OwnTables own) {
    if (own != null) {
      own.end();
    }
  }

  /** Publishes COMMIT, in its place among others; its LSN. */
  private long publishOutcome() {
    TransactionTable table = engine.storage().transactions();
    Certifier certifier = engine.certifier();
    long pass = enter(certifier);
    try {
      table.committing(id);
      if (certifier.mustEnter(pass)) { // since a moment ago; and nobody waits there as committing
        table.stillActive(id);
        pass = certifier.enterAlways(); // it may be off again, and on a moment later
        table.committing(id);
      }
      return publishOutcome(table, certifier, pass);
    } finally {
      certifier.leave(pass);
    }
  }

  private long publishOutcome(TransactionTable table, Certifier certifier, long pass) {
    Journal log = engine.storage().log();
    LongFunction<Commit> rows;
    long lsn;
    try {
      RowWriter used = writer;
      RecordBuilder record = used == null ? RecordBuilder.bare() : used.bareRecord();
      rows = pass == Certifier.UNGATED ? NO_ROWS : this::commitAt; // what follows allocates nothing
      lsn = log.publish(record.begin(RecordType.COMMIT, id));
    } catch (Throwable failure) {
      // Nothing was published, so it is not committed; and nobody may wait for its outcome.
      abortUnlogged(table, log);
      end(State.ROLLED_BACK);
      throw failure;
    }
    try {
      AfterPublish.passed();
      table.committed(id, lsn);
      if (pass != Certifier.UNGATED) {
        certifier.committed(pass, rows, lsn);
      }
    } catch (Throwable failure) {
      stopCommitted(table, log, lsn, failure);
      throw failure;
    } finally {
      setCommittedAtRelease(lsn); // behind all that it has read
      end(State.COMMITTED);
    }
    return lsn;
  }

  /** One that has only read, and not only in its snapshot: what it was told is so now. */
  private void endReading() {
    Certifier certifier = engine.certifier();
    long pass = enter(certifier);
    try {
      setCommittedAtRelease(reading.witness().lsn());
      end(State.COMMITTED);
    } finally {
      certifier.leave(pass);
    }
  }

  /** Publishes a record that counts as a commit, in its place among those. */
  private long publishInOrder(LongSupplier record) {
    Certifier certifier = engine.certifier();
    long pass = validated == null ? certifier.enterAlways() : enter(certifier);
    try {
      LongFunction<Commit> rows = this::commitAt;
      long lsn = record.getAsLong();
      certifier.committed(pass, rows, lsn);
      return lsn;
    } finally {
      certifier.leave(pass);
    }
  }

  /** Takes its place among commits; a serializable one only if all it has read is still so. */
  private long enter(Certifier certifier) {
    Certifier.Validated before = validated;
    if (reads == null || before == null) {
      return certifier.enter();
    }
    long pass;
    try {
      pass = certifier.enter(reads, before);
    } catch (ChangedException told) {
      throw changed(told.lsn());
    }
    if (pass == Certifier.UNGATED) {
      throw new StaleException();
    }
    return pass;
  }

  /** What it has committed, or prepared. */
  private Commit commitAt(long lsn) {
    List<Commit.Row> rows = new ArrayList<>();
    RowWriter used = writer;
    boolean isKnown =
        used == null || used.forEachWritten((tree, key) -> rows.add(new Commit.Row(tree, key)));
    List<Integer> gone = new ArrayList<>();
    List<String> names = new ArrayList<>();
    OwnTables own = ownTables;
    if (own != null) {
      own.forEach((table, now) -> {
        names.add(table.name());
        TableState.of(table)
            .newest()
            .all()
            .forEach(tree -> gone.add(tree.table())); // what others see, until now
      });
    }
    return new Commit(lsn, rows, isKnown, gone, names);
  }

  /**
   * It is in the log, and must not be rolled back as if it were not (R18); nor may anybody wait for
   * it for ever.
   */
  private void stopCommitted(TransactionTable table, Journal log, long lsn, Throwable failure) {
    try {
      log.fail(failure);
    } finally {
      table.committed(id, lsn);
    }
  }

  /** What it says on its way out, without a commit, is an answer too (R10). */
  public void awaitToldWithoutCommit() {
    if (state == State.ROLLED_BACK
        && options.durability() == Durability.DURABLE
        && options.actsAfterCommit()) {
      awaitWitnessed();
    }
  }

  /** Those who wait for the outcome go on in any case, if need be in an engine that has stopped. */
  private void abortUnlogged(TransactionTable table, Journal log) {
    try {
      addToAborted(table, log);
    } finally {
      table.aborted(id);
    }
  }

  /** Rolls back; nothing happens if the transaction has ended. */
  public void rollback() {
    rollback(/* putsBack= */ true);
  }

  private void rollback(boolean putsBack) {
    enterAlone();
    try {
      if (state == State.OPEN) {
        int stripe = engine.gate().enter();
        try {
          abort(State.ROLLED_BACK, putsBack);
        } finally {
          engine.gate().exit(stripe);
        }
      }
    } finally {
      leaveAlone();
    }
  }

  /** The database ends: nobody is inside it. */
  public void databaseCloses() {
    if (state == State.OPEN) {
      abort(State.CLOSED, /* putsBack= */ false);
    }
  }

  private void abort(State end, boolean putsBack) {
    OwnTables own = ownTables;
    boolean hasSteps = own != null && !own.isEmpty();
    boolean isAborted = false;
    try {
      isAborted = id == 0 || (putsBack && !hasSteps && hasPutBack());
    } finally {
      if (!isAborted) {
        abortForCleaner();
      }
      try {
        end(end);
      } finally {
        if (own != null && hasSteps) {
          engine.tables().rollBack(own, id);
        } else {
          endOwn(own);
        }
        engine.pokeCleaner();
      }
    }
  }

  private void abortForCleaner() {
    TransactionTable table = engine.storage().transactions();
    Journal log = engine.storage().log();
    try {
      addToAborted(table, log);
      RowWriter used = writer;
      RecordBuilder record = used == null ? RecordBuilder.bare() : used.bareRecord();
      log.publish(record.begin(RecordType.ABORT, id));
    } catch (LogStoppedException | VirtualMachineError e) {
      // Without the record it is undecided after the restart, and so aborted all the same.
    } finally {
      table.aborted(id); // nobody may wait for it for ever
    }
  }

  /** One that is not in the map would count as committed when it is forgotten: the engine stops. */
  private void addToAborted(TransactionTable table, Journal log) {
    try {
      table.aborted().add(id);
    } catch (Throwable noMemory) {
      log.fail(noMemory);
      throw noMemory;
    }
  }

  /**
   * Whether all rows were put back, and that is in the log. What fails is left to the cleaner
   * (R25): a page that cannot be read, no memory, a log that has stopped.
   */
  private boolean hasPutBack() {
    RowWriter used = writer;
    try {
      if (used == null || !used.putBack(id)) {
        return false;
      }
      engine.storage().log().publish(ForgottenIds.build(new RecordBuilder(), id));
    } catch (StorageException | LogStoppedException | VirtualMachineError failure) {
      return false;
    }
    engine.storage().transactions().aborted(id);
    return true;
  }

  /** Gives back all that it has, each in any case; allocates nothing. */
  private void end(State end) {
    setStateRelease(end);
    try {
      endSlots();
    } finally {
      try {
        if (reads != null) {
          engine.certifier().end(reads);
        }
      } finally {
        endWriter();
      }
    }
  }

  private void endSlots() {
    engine.open().end(slot);
    engine.snapshots().close(slot);
    List<KeptReading> ended = kept;
    for (int i = 0; i < ended.size(); i++) {
      engine.open().end(ended.get(i).slot());
      engine.snapshots().close(ended.get(i).slot());
    }
    kept = List.of();
  }

  private void endWriter() {
    try {
      RowWriter used = writer;
      if (used != null) {
        setWriterRelease(null);
        used.end();
        engine.giveBack(used);
      }
    } finally {
      RowWaiters.Inheritance left = heirs;
      if (left != null) {
        heirs = null;
        rowWaiters().release(left);
      }
    }
    RowTurns.Turn ended = turn;
    if (ended != null) {
      turn = null;
      engine.storage().transactions().rowTurns().leave(ended);
    }
  }

  /** The face was forgotten: nobody can be inside any more. */
  void forgotten() {
    if (state != State.OPEN) {
      return;
    }
    try {
      rollback(/* putsBack= */ false); // this thread serves all databases
    } catch (DatabaseClosedException e) {
      return;
    }
    engine.options().leakListener().accept(new LeakedTransaction(id, options.name(), begun));
  }
}
