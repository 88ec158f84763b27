package org.revenantdb.engine.session;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;
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

/**
 * The part of a transaction that outlives the user's handle, so that a leaked transaction can still
 * be rolled back. Every call of a user on a transaction comes through here.
 *
 * <p>Threads: one at a time is inside, see {@link TransactionState}. The end of the database and
 * the sweep for leaked transactions end it from other threads, when no thread is inside.
 */
public final class TransactionCore extends TransactionState {
  /*
   * Rooms       each protocol has a class, with its steps and what a crash leaves. They have no state: that is here, in
   *             TransactionState, and in what the transaction has lazily (writer, OwnTables, KeptReadings,
   *             RepeatedAttempt).
   *               WriteStatement, RowConflicts, RowWait    a statement that writes, its conflicts and its waits
   *               PreparedWait                             the wait of a serializable reader
   *               TablesSeen, TableChanges                 tables that it sees and changes
   *               SavepointSteps                           savepoints
   *               CommitPath, SerialCommit, PreparePath    the ways to an outcome
   *               RollbackPath, TransactionEnd             the way back, and what follows every outcome
   *               DurableOutcome                           the wait for the disk
   *
   * Read        under latches, while the witness receives what the answer depends on; latches and gate are left; if the
   *             transaction is durable: wait until that is durable; answer (R10). A conflict is an answer, too. A
   *             transaction that acts after its commit waits there: its own commit is behind all that it has read.
   *
   * Id          with the first write: a writer is taken, the id is entered in the table of transactions, the snapshot
   *             says that its transaction writes, cursors learn the id, heirs sleep behind it
   *
   * Attempt     of Database.run: `runner` is the only thread that ends it, whichever thread writes with it
   */
  private static final VarHandle RUNNER =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "runner", VarHandle.class, TransactionCore.class, long.class);

  /**
   * What a statement does before it writes a row that has been committed since its snapshot, if it
   * may write it.
   */
  @FunctionalInterface
  public interface Renewal {
    /** Called with a new snapshot of the transaction. */
    void run();
  }

  public static final Renewal NOTHING_READ = () -> {};

  /** The cure for a conflict with a transaction that the same thread has open. */
  static final String OWN_CURE =
      "do this work in the transaction that is open, or end that one first";

  /** Whether it is an attempt of {@link Database#run}: others may sleep behind the next one. */
  private boolean isAttempt;

  /** The id of the thread that runs it as an attempt, and which alone can end it; else 0. */
  private volatile long runner;

  /** Its changes to tables; null while there are none. */
  private volatile @Nullable OwnTables ownTables;

  /** Whether there is a savepoint from before the first write. */
  private boolean hasSavepoint;

  /**
   * The snapshots of its cursors and streams; null if they read in the snapshot of the transaction.
   */
  private @Nullable KeptReadings kept;

  /** What it has of the attempts before it; null if there were none. */
  private @Nullable RepeatedAttempt repeated;

  /** The conflict that the last statement has met; used only by the thread that runs it. */
  private @Nullable RowConflict lastConflict;

  /** The row that it has not got because of a conflict. */
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
    super(engine, slot, snapshot, options, begun, reads);
    if (reads != null) {
      reads.snapshot(snapshot);
      reading().notePrepared();
    }
  }

  /** Makes a core for a transaction that ended without one. It only reports the end. */
  public static TransactionCore ended(
      Engine engine, int slot, long snapshot, TransactionOptions options, State state) {
    TransactionCore core = new TransactionCore(engine, slot, snapshot, options, null, null);
    core.setStateRelease(state);
    return core;
  }

  /** Records what a serializable transaction is about to read. */
  public void note(Consumer<SerialReads> what) {
    SerialReads own = reads();
    if (own != null) {
      alone(() -> what.accept(own));
    }
  }

  /** Called when a statement begins: a read-committed transaction takes a new snapshot. */
  public void beginStatement() {
    if (readsCommitted()) {
      alone(this::advance);
    }
  }

  /**
   * Called when a statement begins that writes to a table: a read-committed transaction holds the
   * table before it reads it.
   */
  public void beginStatement(Table table) {
    TableState.of(Objects.requireNonNull(table, "table")).demandOf(engine());
    demandWrites();
    if (readsCommitted()) {
      inside(() -> {
        RowWriter held = writer(table);
        advance();
        return held;
      });
    }
  }

  /**
   * Takes another snapshot. Called inside the gate, after a check that the slot still belongs to
   * the transaction.
   */
  void advance() {
    reading().advance(engine().snapshots().advance(slot(), engine().clock()));
  }

  /** The snapshot for a cursor or stream, which must be {@linkplain #letGo released}. */
  public @Nullable KeptReading keepReading() {
    return readsCommitted() ? inside(() -> keptReadings().open(this)) : null;
  }

  private KeptReadings keptReadings() {
    KeptReadings own = kept;
    if (own == null) {
      own = new KeptReadings(engine());
      kept = own;
    }
    return own;
  }

  /** The snapshots of its cursors and streams; null if it never had one. */
  @Nullable KeptReadings kept() {
    return kept;
  }

  /** Called when a cursor or stream has ended. */
  public void letGo(@Nullable KeptReading used) {
    if (used == null || state() != State.OPEN) {
      return; // its slot was freed with the transaction's
    }
    try {
      alone(() -> {
        KeptReadings own = kept;
        if (own != null) {
          own.close(used);
        }
      });
    } catch (DatabaseClosedException | TransactionStateException atItsEnd) {
      // then it is freed with the transaction
    }
  }

  /** Runs an action whose result is not returned to the user. */
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
   * Runs an action inside the transaction and the database. Its result or exception leaves this
   * method only when this transaction may know it.
   */
  public <T extends @Nullable Object> T inside(Supplier<T> action) {
    enterAlone();
    try {
      T answer;
      try {
        answer = insideGate(action);
        PreparedWait.awaitPassed(this);
      } catch (ConflictException | CatalogException told) {
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

  private RowWaiters rowWaiters() {
    return engine().storage().transactions().rowWaiters();
  }

  /**
   * Makes the transaction an attempt of {@link Database#run}.
   *
   * @param before the state of the attempts before; null if there were none
   */
  public void attempt(@Nullable Retry before) {
    isAttempt = true;
    RUNNER.setOpaque(this, Thread.currentThread().threadId());
    if (before != null) {
      RepeatedAttempt own = new RepeatedAttempt(engine().storage().transactions(), before);
      repeated = own;
      if (!options().readOnly()) {
        engine()
            .snapshots()
            .writes(slot()); // it will write: deleted rows stay from now on (protocols, §41)
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

  /** The row of the last statement's conflict; for the thread that is inside. */
  @Nullable RowConflict lastConflict() {
    return lastConflict;
  }

  void lastConflict(@Nullable RowConflict met) {
    lastConflict = met;
  }

  /**
   * Called when the attempt has not got this row: transactions that sleep behind it inherit the
   * wait.
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

  /** Whether overwritten versions are kept, from its first write on. */
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

  /**
   * Takes the transactions that sleep behind it for the row that it has not got, before it is
   * rolled back.
   */
  RowWaiters.@Nullable Inheritance takeHeirs() {
    RepeatedAttempt own = repeated;
    RowWaiters.Inheritance inherited = own == null ? null : own.giveHeirs();
    Row row = contested;
    return inherited != null || row == null ? inherited : rowWaiters().take(id(), row);
  }

  /** The cure after a conflict with others, for code that catches the exception. */
  String cure() {
    return isAttempt
        ? "let the exception leave the work, then it is rolled back and done again"
        : "roll back and try again, or use Database.run, which does";
  }

  /**
   * Whether the calling thread has it open: it runs it as an attempt, or, if it is no attempt, was
   * the last thread to write with it (protocols.md §32).
   */
  boolean isOfThisThread() {
    return thread() == Thread.currentThread().threadId();
  }

  /**
   * The id of the thread that a transaction waits for if it wants a row of this one; 0 if there is
   * none.
   */
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
      Engine engine = engine();
      int stripe = engine.gate().enter();
      int length;
      try {
        length = engine.reader().read(tree, key, reading(), into, at);
      } finally {
        engine.gate().exit(stripe);
      }
      awaitAnswer();
      return length;
    } finally {
      leaveAlone();
    }
  }

  /**
   * Waits until the answer may leave. Called with nothing latched, and outside of the gate, because
   * it may wait for the disk.
   */
  void awaitAnswer() {
    if (durability() == Durability.DURABLE && !options().deferReadWaitsToCommit()) {
      awaitWitnessed();
    }
  }

  void awaitWitnessed() {
    if (engine().storage().log().durableLsn() >= reading().witness().lsn()) {
      return;
    }
    long start = System.nanoTime();
    engine().awaitDurable(reading().witness().lsn());
    engine().storage().counters().durableReadWaits.increment();
    engine().storage().counters().durableReadWaitNanos.add(System.nanoTime() - start);
  }

  /**
   * The writer of rows of a table. From now on the table cannot be dropped or truncated until this
   * transaction has ended.
   *
   * @throws CatalogException with {@link CatalogException.Reason#DROPPED} if the table was dropped
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

  /** Whether it has dropped or truncated a table; for the thread that has it open. */
  boolean hasTaken(Table table) {
    OwnTables own = ownTables;
    return own != null && own.holds(table);
  }

  /**
   * For a drop that has announced itself: the holds of this transaction while it is open; null if
   * it has not written.
   */
  @Nullable Holds holds() {
    RowWriter current = usedWriter();
    return current == null ? null : current.holds();
  }

  /**
   * The trees that a table has for this transaction.
   *
   * @throws CatalogException with {@link CatalogException.Reason#DROPPED} if it was dropped before
   *     this began, or by this
   */
  public TableTrees trees(Table table) {
    return trees(table, snapshot());
  }

  /** The same, for a read in a separate snapshot. */
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

  /** The writer of rows; with the first call the transaction gets its id. */
  RowWriter writer() {
    writes++;
    RowWriter current = usedWriter();
    return current != null ? current : beginWriting();
  }

  private RowWriter beginWriting() {
    Engine engine = engine();
    if (engine.options().readOnly()) {
      throw new ReadOnlyDatabaseException("the database was opened read-only; open it for writing");
    }
    demandWrites();
    RowWriter taken = engine.takeWriter();
    taken.begin(engine.options().shortTransactionRows());
    if (hasSavepoint) {
      taken.history().savepoint();
    }
    long id =
        engine.storage().transactions().enter(); // before there is a writer, because it may fail
    setIdRelease(id);
    setWriterRelease(taken);
    engine.snapshots().writes(slot());
    reading().writesAs(id);
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

  /**
   * Returns how many versions it has overwritten so far. From now on overwritten versions are kept
   * (R14).
   */
  public int savepoint() {
    return inside(() -> SavepointSteps.set(this));
  }

  /** Called when overwritten versions need not be kept any more. */
  public void noSavepoint() {
    inside(() -> SavepointSteps.release(this));
  }

  /** Restores the versions that all rows had at a savepoint. */
  public void rollbackTo(int savepoint) {
    SavepointSteps.goBack(this, savepoint);
  }

  /** Called before a write: rows that cursors have read ahead may be out of date after it. */
  void countWrite() {
    writes++;
  }

  /** A number that changes with each write of this transaction. */
  public long writes() {
    return writes;
  }

  /**
   * Commits, and waits until the commit is durable if it has to be.
   *
   * @param last runs as the last part of the transaction, in the order of commits; or null
   * @param isReserved whether the caller has checked that there is stack
   */
  public void commit(@Nullable Runnable last, boolean isReserved) {
    CommitPath.commit(this, last, isReserved);
  }

  /** Prepares. Returns whether there is something to decide. Durable on return. */
  public boolean prepare(byte[] name) {
    return PreparePath.prepare(this, name);
  }

  /**
   * Commits; if the commit has to be durable, the force is on its way on return.
   *
   * @param last as of {@link #commit}
   */
  public void commitAsync(@Nullable Runnable last) {
    CommitPath.commitAsync(this, last);
  }

  /** Completed when the commit is durable, and everything that it has read. */
  public CompletionStage<@Nullable Void> whenDurable() {
    return DurableOutcome.stage(this);
  }

  /** Waits for a result that leaves without a commit: it is an answer, too (R10). */
  public void awaitToldWithoutCommit() {
    if (state() == State.ROLLED_BACK
        && durability() == Durability.DURABLE
        && options().deferReadWaitsToCommit()) {
      awaitWitnessed();
    }
  }

  /** Rolls back; no effect if the transaction has ended. */
  public void rollback() {
    RollbackPath.rollback(this, /* putsBack= */ true);
  }

  /** Called at the end of the database: no thread is inside it. */
  public void databaseCloses() {
    RollbackPath.databaseCloses(this);
  }

  /** Called when the user has leaked it: no thread can be inside any more. */
  void forgotten() {
    RollbackPath.forgotten(this);
  }
}
