package org.revenantdb.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.version.Cleaner;
import org.revenantdb.engine.version.RowReader;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.log.LogStoppedException;

/** What transactions, cursors and tables of one open database share. Thread-safe. */
final class Engine {
  /** Writers that wait to be used again; each holds some tens of KiB of scratch space. */
  private static final int MAX_IDLE_WRITERS = 16;

  private final Storage storage;
  private final DatabaseOptions options;
  private final OperationGate gate = new OperationGate();
  private final ActiveSnapshots snapshots;
  private final RowReader reader;
  private final ConcurrentLinkedQueue<RowWriter> writers = new ConcurrentLinkedQueue<>();
  private final Set<TransactionCore> open = ConcurrentHashMap.newKeySet();
  private volatile @Nullable Cleaner cleaner;

  Engine(Storage storage, ActiveSnapshots snapshots, DatabaseOptions options) {
    this.storage = storage;
    this.snapshots = snapshots;
    this.options = options;
    this.reader = new RowReader(storage);
  }

  Storage storage() {
    return storage;
  }

  DatabaseOptions options() {
    return options;
  }

  OperationGate gate() {
    return gate;
  }

  ActiveSnapshots snapshots() {
    return snapshots;
  }

  RowReader reader() {
    return reader;
  }

  Set<TransactionCore> open() {
    return open;
  }

  void cleaner(Cleaner running) {
    this.cleaner = running;
  }

  /** Tells the cleaner that a transaction that wrote something has ended. */
  void pokeCleaner() {
    Cleaner running = cleaner;
    if (running != null) {
      running.poke();
    }
  }

  /** Has a lazy commit forced in time, if ever. */
  void committedLazily(long lsn) {
    storage.counters().lazyCommits.increment();
    if (!options.isLazyForcedOnRequestOnly()) {
      storage.log().requestFlushWithin(lsn, options.maxLazyDelay().toNanos());
    }
  }

  /** Waits, with nothing latched and outside of the gate, until the log is durable up to there. */
  void awaitDurable(long lsn) {
    try {
      storage.log().awaitDurable(lsn);
    } catch (org.revenantdb.recovery.log.OutcomeUnknownException | LogStoppedException e) {
      throw stopped(e);
    }
  }

  RowWriter takeWriter() {
    RowWriter writer = writers.poll();
    return writer != null ? writer : new RowWriter(storage);
  }

  void giveBack(RowWriter writer) {
    if (writers.size() < MAX_IDLE_WRITERS) {
      writers.add(writer);
    }
  }

  /** What a caller is told when the engine has stopped. */
  static RuntimeException stopped(RuntimeException cause) {
    return new DatabaseStoppedException(
        "the database has stopped after an error and takes no more work; nothing that was acknowledged as durable is"
            + " lost: close it, remove the cause and open it again ("
            + why(cause)
            + ")",
        cause);
  }

  /** The first cause, in words: trouble with a file says which, and what to do. */
  static String why(Throwable failure) {
    Throwable first = failure;
    while (first.getCause() != null && !(first instanceof StorageException)) {
      first = first.getCause();
    }
    return first.getMessage() == null ? first.toString() : first.getMessage();
  }
}
