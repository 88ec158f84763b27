package org.revenantdb.engine;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * An open database.
 *
 * <p>One process has it open at a time. Thread-safe: any number of platform and virtual threads may
 * work with it.
 *
 * <p>Trouble with files is told by {@code StorageException} and its subclasses, which name the
 * file, the place, the reason and the cure; everything else by {@link RevenantException}.
 */
public final class Database implements AutoCloseable {
  /** Longest key, in bytes. */
  public static final int MAX_KEY_BYTES = LeafCell.MAX_KEY;

  /** Longest value, in bytes: 1 GiB. */
  public static final long MAX_VALUE_BYTES = 1L << 30;

  private static final long SHORTEST_PAUSE = 20_000;
  private static final long LONGEST_PAUSE = 5_000_000;

  private final OpenDatabase open;
  private final Engine engine;
  private final Catalog catalog;

  private Database(OpenDatabase open) {
    this.open = open;
    this.engine = open.engine();
    this.catalog = open.catalog();
  }

  /**
   * Opens a database, and creates it if the directory is empty or does not exist.
   *
   * @param directory where its files are
   * @return the open database; recovery, if it was needed, is done
   */
  public static Database open(Path directory) {
    return open(directory, DatabaseOptions.defaults());
  }

  /**
   * Opens a database.
   *
   * @param directory where its files are
   * @param options how
   * @return the open database; recovery, if it was needed, is done
   */
  public static Database open(Path directory, DatabaseOptions options) {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(options, "options");
    return new Database(
        EngineThread.call("revenant-open", () -> OpenDatabase.open(directory, options)));
  }

  /**
   * A table; it is created if there is none of this name, which is durable then.
   *
   * @param name 1 to {@link #MAX_KEY_BYTES} bytes of UTF-8
   * @return the table
   */
  public Table table(String name) {
    Table found = findTable(name);
    if (found != null) {
      return found;
    }
    if (engine.options().readOnly()) {
      throw new ReadOnlyDatabaseException(
          "there is no table "
              + name
              + ", and the database was opened read-only; open it for writing");
    }
    inside(() -> catalog.create(name));
    return Objects.requireNonNull(findTable(name));
  }

  /**
   * A table that exists.
   *
   * @param name its name
   * @return the table, or null if there is none of this name
   */
  public @Nullable Table findTable(String name) {
    Objects.requireNonNull(name, "name");
    Table found = inside(() -> catalog.find(name));
    awaitCatalog();
    return found;
  }

  /** Nobody is told of a table that a crash could take back (R10). */
  private void awaitCatalog() {
    try {
      engine.storage().log().awaitDurable(catalog.createdAt());
    } catch (org.revenantdb.recovery.log.OutcomeUnknownException | LogStoppedException e) {
      throw new OutcomeUnknownException(
          "the log failed while a table was created; open the database again and see ("
              + Engine.why(e)
              + ")",
          e);
    }
  }

  /**
   * The names of all tables.
   *
   * @return in order
   */
  public List<String> tableNames() {
    List<String> names = inside(catalog::names);
    awaitCatalog();
    return names;
  }

  /**
   * Begins a transaction with {@link DatabaseOptions#durability} and nothing else set.
   *
   * @return the transaction; it sees what is committed now
   */
  public Transaction begin() {
    return begin(usual());
  }

  private TransactionOptions usual() {
    return TransactionOptions.of(engine.options().durability());
  }

  /**
   * Begins a transaction.
   *
   * @param options how
   * @return the transaction; it sees what is committed now
   */
  public Transaction begin(TransactionOptions options) {
    Objects.requireNonNull(options, "options");
    @Nullable Throwable begun =
        engine.options().leakTraces() ? new Throwable("the transaction was begun here") : null;
    return inside(() -> {
      int slot = engine.snapshots().open(open.clock());
      return new Transaction(new TransactionCore(engine, slot, options, begun));
    });
  }

  /**
   * Does work in a transaction and commits it. After a conflict the transaction is rolled back and
   * the work done again, up to {@link DatabaseOptions#maxAttempts} times. An interrupted thread
   * gets the first conflict.
   *
   * @param body the work; it may be called more than once
   * @param <X> what it throws
   * @throws X what the work threw: the transaction was rolled back
   */
  public <X extends Exception> void run(TransactionBody<X> body) throws X {
    run(usual(), body);
  }

  /**
   * As {@link #run(TransactionBody)}, in a transaction with other options.
   *
   * @param options of the transaction
   * @param body the work; it may be called more than once
   * @param <X> what it throws
   * @throws X what the work threw: the transaction was rolled back
   */
  public <X extends Exception> void run(TransactionOptions options, TransactionBody<X> body)
      throws X {
    this.<@Nullable Object, X>call(
        options,
        transaction -> {
          body.run(transaction);
          return null;
        });
  }

  /**
   * As {@link #run}, with a result.
   *
   * @param body the work; it may be called more than once
   * @param <T> what it returns
   * @param <X> what it throws
   * @return what the work returned when it was committed
   * @throws X what the work threw: the transaction was rolled back
   */
  public <T extends @Nullable Object, X extends Exception> T call(TransactionCall<T, X> body)
      throws X {
    return call(usual(), body);
  }

  /**
   * As {@link #call(TransactionCall)}, in a transaction with other options.
   *
   * @param options of the transaction
   * @param body the work; it may be called more than once
   * @param <T> what it returns
   * @param <X> what it throws
   * @return what the work returned when it was committed
   * @throws X what the work threw: the transaction was rolled back
   */
  public <T extends @Nullable Object, X extends Exception> T call(
      TransactionOptions options, TransactionCall<T, X> body) throws X {
    for (int attempt = 1; ; attempt++) {
      Transaction transaction = begin(options);
      try (transaction) {
        T result = body.call(transaction);
        transaction.commit();
        return result;
      } catch (ConflictException conflict) {
        if (attempt >= engine.options().maxAttempts() || Thread.currentThread().isInterrupted()) {
          awaitTold(transaction, conflict);
          throw conflict;
        }
        if (conflict.commitLsn() == 0) {
          pause(attempt);
        }
      } catch (Throwable thrown) {
        awaitTold(transaction, thrown);
        throw thrown;
      }
    }
  }

  private static void awaitTold(Transaction transaction, Throwable thrown) {
    try {
      transaction.core().awaitToldWithoutCommit();
    } catch (RuntimeException stopped) {
      stopped.addSuppressed(thrown);
      throw stopped;
    }
  }

  /** The other has not ended: a random time that grows. */
  private void pause(int attempt) {
    long ceiling = Math.min(SHORTEST_PAUSE << Math.min(attempt, 20), LONGEST_PAUSE);
    LockSupport.parkNanos(this, ThreadLocalRandom.current().nextLong(ceiling));
  }

  /**
   * What opening took.
   *
   * @return the report
   */
  public RecoveryReport recovery() {
    return open.recovery();
  }

  /**
   * Counts since the database was opened.
   *
   * @return the counts
   */
  public DatabaseStatistics statistics() {
    return inside(open::statistics);
  }

  /**
   * Makes durable whatever was committed before, lazily or not, and returns when it is.
   *
   * @throws DatabaseStoppedException if the log failed, now or before: what was committed lazily
   *     may be lost, in part or all of it
   */
  public void sync() {
    inside(() -> null); // or it would not say that the database is closed
    engine.awaitDurable(engine.storage().log().tail());
  }

  /** Writes all changed pages, so that a restart after this would have next to nothing to redo. */
  public void checkpoint() {
    inside(() -> {
      open.checkpoint();
      return null;
    });
  }

  /**
   * Lets the cleaner do all that can be done now: what aborted transactions left is taken back,
   * versions that no snapshot needs are dropped. It works by itself; this is for tests and for
   * measuring.
   */
  public void cleanNow() {
    // Not inside the gate: the cleaner's own steps pass through it.
    inside(() -> null);
    open.cleanNow();
  }

  /**
   * Checks the structure of the whole database: every page reached once, keys in order, space maps
   * right. Others wait meanwhile.
   *
   * @return what was found
   */
  public CheckReport check() {
    if (!engine.gate().pause()) {
      throw new DatabaseClosedException("the database is closed; open it again to go on");
    }
    try {
      return EngineThread.call(
          "revenant-check", () -> new Checker(engine.storage(), catalog).check());
    } finally {
      engine.gate().resume();
    }
  }

  private <T extends @Nullable Object> T inside(java.util.function.Supplier<T> action) {
    int stripe = engine.gate().enter();
    try {
      return action.get();
    } catch (LogStoppedException e) {
      throw Engine.stopped(e);
    } finally {
      engine.gate().exit(stripe);
    }
  }

  /**
   * Closes the database: waits for threads that are inside, rolls back open transactions, writes
   * what has changed. Lazy commits are durable on return; the next open has nothing to recover.
   * Nothing happens if it is closed.
   *
   * @throws DatabaseStoppedException if the engine had stopped: everything is let go, but the next
   *     open has to recover
   */
  @Override
  public void close() {
    EngineThread.call(
        "revenant-close",
        () -> {
          open.close();
          return true;
        });
  }
}
