package org.revenantdb.engine.session;

import java.util.List;
import java.util.Objects;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.catalog.CatalogueOwner;
import org.revenantdb.engine.catalog.NameChange;
import org.revenantdb.engine.catalog.SequenceMark;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.version.Cleaner;
import org.revenantdb.engine.version.RowBatch;
import org.revenantdb.engine.version.RowReader;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.latch.StackReserve;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.restart.PreparedTransaction;

/** The state that transactions, cursors and tables of one open database share. Thread-safe. */
public final class Engine implements CatalogueOwner {
  private final Storage storage;
  private final DatabaseOptions options;
  private final OperationGate gate = new OperationGate();
  private final ActiveSnapshots snapshots;
  private final LongSupplier clock;
  private final RowReader reader;

  /** Each holds some tens of KiB of scratch space. */
  private final Spares<RowWriter> writers = new Spares<>();

  /** Each holds some kilobytes. */
  private final Spares<RowBatch> batches = new Spares<>();

  private final Certifier certifier;
  private final OpenTransactions open;
  private final WaitGraph waitGraph = new WaitGraph(this);
  private final Retries retries = new Retries();
  private final Backoff backoff;

  private volatile @Nullable Cleaner cleaner;
  private volatile IntConsumer cutter = pages -> {};

  /** The greatest length of a value; tests set less to see longer ones refused. */
  public volatile long maxValueBytes = Database.MAX_VALUE_BYTES;

  /** Whether the directory was copied while the original was in use; set while it opens. */
  private volatile boolean ofCopy;

  private final PreparedTransactions prepared;
  private final PatientLock commitOrder = new PatientLock();
  private volatile @Nullable TableSteps tables;

  /**
   * Makes the shared state.
   *
   * @param segmentBytes size of a segment of the log
   * @param prepared transactions that were prepared in former lives
   * @param pauses receives the pauses before another attempt
   */
  public Engine(
      Storage storage,
      ActiveSnapshots snapshots,
      DatabaseOptions options,
      long segmentBytes,
      List<PreparedTransaction> prepared,
      WaitMeter pauses) {
    // Without memory a class cannot be loaded. So the classes that end transactions are loaded
    // before one begins.
    CommitPath.load();
    DurableOutcome.load();
    RollbackPath.load();
    Spares.load();
    TransactionEnd.load();
    this.storage = storage;
    this.snapshots = snapshots;
    this.open = new OpenTransactions(snapshots);
    this.options = options;
    this.clock = storage.log()::tail;
    this.reader = new RowReader(storage);
    this.certifier = new Certifier(storage.transactions()::writing);
    this.prepared = new PreparedTransactions(storage, segmentBytes, prepared);
    this.backoff =
        new Backoff(
            options.maxBackoff().toNanos(), storage.counters()::commits, System::nanoTime, pauses);
  }

  @Override
  public Storage storage() {
    return storage;
  }

  @Override
  public DatabaseOptions options() {
    return options;
  }

  public OperationGate gate() {
    return gate;
  }

  public ActiveSnapshots snapshots() {
    return snapshots;
  }

  /** The order of commits while there are serializable transactions. */
  @Override
  public Certifier certifier() {
    return certifier;
  }

  /** The clock of snapshots: the end of the log. */
  public LongSupplier clock() {
    return clock;
  }

  @Override
  public RowReader reader() {
    return reader;
  }

  /**
   * Held by a transaction with a last step, from that step until its commit has its place (§53). It
   * is taken before the gate.
   */
  PatientLock commitOrder() {
    return commitOrder;
  }

  public PreparedTransactions prepared() {
    return prepared;
  }

  public OpenTransactions open() {
    return open;
  }

  WaitGraph waitGraph() {
    return waitGraph;
  }

  public Retries retries() {
    return retries;
  }

  public Backoff backoff() {
    return backoff;
  }

  public void tables(TableSteps steps) {
    this.tables = steps;
  }

  /** Tables as parts of transactions. */
  public TableSteps tables() {
    return Objects.requireNonNull(tables);
  }

  /** Sets the cleaner, and the code that cuts the file to a number of pages. */
  public void cleaner(Cleaner running, IntConsumer cutsBack) {
    this.cutter = cutsBack;
    this.cleaner = running;
  }

  /** The cleaner; null if there is none. */
  public @Nullable Cleaner cleaner() {
    return cleaner;
  }

  /** The number of pages of the data file. */
  public int filePages() {
    return storage.pool().sizeInPages();
  }

  /**
   * Called after a value was refused when a part of it had been written. On return its pages are
   * free, and the file is as short as before, unless others use the added part. Called outside the
   * gate, with nothing latched. A failure here is added to the refusal.
   *
   * @param pagesBefore the value of {@link #filePages} before the value was begun
   */
  public void giveBackRefused(int pagesBefore, Throwable refusal) {
    Cleaner running = cleaner;
    if (running == null || storage.marks().givenUp().isEmpty()) {
      return;
    }
    try {
      running.freeGivenUp();
      cutter.accept(pagesBefore);
    } catch (Throwable later) {
      refusal.addSuppressed(later);
    }
  }

  /** Notifies the cleaner that a transaction that wrote something has ended. */
  public void pokeCleaner() {
    Cleaner running = cleaner;
    if (running != null) {
      running.poke();
    }
  }

  /** Requests the force of a lazy commit within its time, if there is a limit. */
  void committedLazily(long lsn) {
    storage.counters().lazyCommits.increment();
    forceInTime(lsn);
  }

  /**
   * Requests a force of the log up to there within the time of lazy commits, if there is a limit.
   */
  public void forceInTime(long lsn) {
    if (!ApiAccess.api().isLazyForcedOnRequestOnly(options)) {
      storage.log().requestFlushWithin(lsn, options.maxLazyDelay().toNanos());
    }
  }

  /** Waits, with nothing latched and outside of the gate, until the log is durable up to there. */
  public void awaitDurable(long lsn) {
    try {
      storage.log().awaitDurable(lsn);
    } catch (DurabilityUnknownException | LogStoppedException e) {
      throw stopped(e);
    }
  }

  /** A batch for a cursor, if possible a used one, which saves an allocation of some kilobytes. */
  public RowBatch takeBatch() {
    RowBatch batch = batches.take();
    return batch != null ? batch : new RowBatch();
  }

  /** Takes back a batch that is no longer used. */
  public void giveBack(RowBatch batch) {
    batch.clear();
    batches.giveBack(batch);
  }

  public RowWriter takeWriter() {
    RowWriter writer = writers.take();
    return writer != null ? writer : new RowWriter(storage);
  }

  public void giveBack(RowWriter writer) {
    writers.giveBack(writer);
  }

  /**
   * Runs an action inside the database.
   *
   * @throws DatabaseClosedException if it is closed
   * @throws DatabaseStoppedException if the action met a log that has stopped
   */
  public <T extends @Nullable Object> T inside(Supplier<T> action) {
    StackReserve.ensure();
    return insideReserved(action);
  }

  /** As {@link #inside}, after {@link StackReserve#ensure}. */
  <T extends @Nullable Object> T insideReserved(Supplier<T> action) {
    int stripe = gate.enter();
    try {
      return action.get();
    } catch (LogStoppedException e) {
      throw stopped(e);
    } finally {
      gate.exit(stripe);
    }
  }

  /** The exception for a caller. */
  public RuntimeException told(RuntimeException failure) {
    return Boundary.told(storage.spill().directory(), ofCopy ? CopyInUse.told(failure) : failure);
  }

  /** The directory was copied while the original was in use: what is damaged there has a cause. */
  public void isOfCopy() {
    ofCopy = true;
  }

  /** The exception for a caller when the engine has stopped. */
  public static RuntimeException stopped(RuntimeException cause) {
    return new DatabaseStoppedException(
        "the database has stopped after an error and refuses further work; nothing that was acknowledged as durable is"
            + " lost: close it, remove the cause and open it again ("
            + why(cause)
            + ")",
        cause);
  }

  /**
   * The first cause, in words. An exception about a file has the file and what to do. If there are
   * several, the first one counts; the later ones have it as their cause.
   */
  public static String why(Throwable failure) {
    Throwable first = failure;
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof FileException || !(first instanceof FileException)) {
        first = cause;
      }
    }
    return first.getMessage() == null ? first.toString() : first.getMessage();
  }

  @Override
  public Sequence sequence(String name, SequenceOptions options, SequenceMark mark) {
    return ApiAccess.api().sequence(this, name, options, mark);
  }

  @Override
  public ConflictException inUse(String name, NameChange change) {
    TransactionCore own = open().ofThisThread(change.transaction());
    ConflictException told =
        ApiAccess.api()
            .conflict(
                ConflictReason.TABLE_IN_USE,
                open().described(change.transaction())
                    + (own == null ? "" : ", which this thread has open,")
                    + " has created, dropped or truncated a table "
                    + name
                    + " and has not ended",
                own == null
                    ? "try again when it has ended"
                    : "use Transaction.findTable of that transaction, or end it first",
                change.transaction());
    ApiAccess.api().isBecauseOf(told, own, /* isAlone= */ true);
    return told;
  }
}
