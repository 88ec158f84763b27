package org.revenantdb.engine;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.admin.AdminSocket;
import org.revenantdb.engine.archive.Archiver;
import org.revenantdb.engine.archive.Restore;
import org.revenantdb.engine.backup.BackupApply;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.catalog.NameHint;
import org.revenantdb.engine.catalog.Names;
import org.revenantdb.engine.catalog.Sequences;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.lifecycle.ClassesAhead;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.lifecycle.OpenDatabase;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.session.Boundary;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.ForgottenTransactions;
import org.revenantdb.engine.session.OperationGate;
import org.revenantdb.engine.session.PreparedTransactions;
import org.revenantdb.engine.session.Retry;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.latch.StackReserve;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * An open database.
 *
 * <p>One process has it open at a time. Thread-safe: any number of platform and virtual threads may
 * work with it.
 *
 * <p>All exceptions of the engine are subclasses of {@link RevenantException}. Those about files
 * are {@link StorageException}, with the file, the offset, the reason and the cure.
 */
public final class Database implements AutoCloseable {
  static {
    ApiAccess.register(new EngineFaces());
  }

  /** The version of this library. */
  public static final String VERSION = "0.1.0-SNAPSHOT";

  /** Longest key, in bytes. */
  public static final int MAX_KEY_BYTES = LeafCell.MAX_KEY;

  /** Longest value, in bytes: 1 GiB. */
  public static final long MAX_VALUE_BYTES = ValueReference.MAX_LENGTH;

  /** Longest name of a sequence, in bytes of UTF-8. */
  public static final int MAX_SEQUENCE_NAME_BYTES = SequenceRow.MAX_NAME;

  /** Longest name of a prepared transaction, in bytes. */
  public static final int MAX_PREPARED_NAME_BYTES = PreparedTransactions.MAX_NAME;

  private final OpenDatabase open;
  private final Engine engine;
  private final Catalog catalog;
  private final Sequences sequences;

  /** Whether this database is no longer counted among those that need threads. */
  private final AtomicBoolean leftThreads = new AtomicBoolean();

  private final Path directory;
  private final DatabaseOptions options;

  /** Set before the open returns. */
  private volatile @Nullable AdminSocket admin;

  /** Options of transactions that are begun without options, or that inherit the durability. */
  private final TransactionOptions usual;

  /** Options of {@link #read}. */
  private final TransactionOptions reading;

  /** Of a snapshot of a follower: what gives it back; else null. */
  private final @Nullable Runnable giveBack;

  private Database(Path directory, OpenDatabase open, @Nullable Runnable giveBack) {
    this.giveBack = giveBack;
    this.directory = directory;
    this.open = open;
    this.engine = open.engine();
    this.options = engine.options();
    this.usual = TransactionOptions.of(engine.options().durability());
    this.reading = usual.withReadOnly(true);
    this.catalog = open.catalog();
    this.sequences = new Sequences(engine, catalog);
    if (giveBack == null) {
      ForgottenTransactions.watch(engine.open());
    }
  }

  /** A snapshot of a follower: several may share what is open. */
  static Database ofView(Path directory, OpenDatabase open, Runnable giveBack) {
    return new Database(directory, open, giveBack);
  }

  /**
   * Opens a database. Creates it if the directory is empty or does not exist.
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
    Objects.requireNonNull(directory, "directory must not be null");
    Objects.requireNonNull(options, "options must not be null");
    Path absolute = directory.toAbsolutePath(); // messages have the whole path
    FileThread.databaseOpens();
    Database database = null;
    try {
      database = openedWithClasses(absolute, options);
      return database;
    } catch (RuntimeException failure) {
      throw Boundary.told(absolute, failure);
    } finally {
      if (database == null) {
        FileThread.databaseClosed();
      }
    }
  }

  /** Opens it, while a second thread loads classes if this is the first open. */
  private static Database openedWithClasses(Path directory, DatabaseOptions options) {
    ClassesAhead ahead = ClassesAhead.begin();
    try {
      return opened(directory, options);
    } finally {
      ahead.end();
    }
  }

  private static Database opened(Path directory, DatabaseOptions options) {
    boolean withSocket = options.adminSocket() && !options.readOnly();
    if (withSocket) {
      AdminSocket.demandPossible(directory);
    }
    OpenDatabase open =
        FileThread.call("revenant-open", () -> OpenDatabase.open(directory, options));
    try {
      Database database = new Database(directory, open, /* giveBack= */ null);
      if (withSocket) {
        database.admin = FileThread.call("revenant-open", () -> AdminSocket.open(database));
      }
      return database;
    } catch (Throwable failed) { // no memory, or there can be no socket
      close(open);
      throw failed;
    }
  }

  /**
   * Where the files are.
   *
   * @return the directory that was given to {@link #open(Path)}, as an absolute path
   */
  public Path directory() {
    return directory;
  }

  /**
   * How the database was opened.
   *
   * @return the options, as they were given to {@link #open(Path, DatabaseOptions)}
   */
  public DatabaseOptions options() {
    return options;
  }

  /**
   * Whether the database was closed, or is being closed. A database whose engine has stopped after
   * a failure is not closed: the application has to close it.
   *
   * @return true from the call of {@link #close} on
   */
  public boolean isClosed() {
    return isClosedSnapshot() || engine.gate().isClosed();
  }

  /** Others may use the same view when a snapshot of it is closed. */
  private boolean isClosedSnapshot() {
    return giveBack != null && leftThreads.get();
  }

  private void demandOpenSnapshot() {
    if (isClosedSnapshot()) {
      throw OperationGate.closed();
    }
  }

  /** Directory and state, for messages and debuggers. */
  @Override
  public String toString() {
    return "Database[" + directory + (isClosed() ? ", closed]" : "]");
  }

  /**
   * Returns a table that exists, whatever its options are. A name that does not exist is an error,
   * so that a wrong name does not create a table; {@link #findTable} returns null instead.
   *
   * @param name 1 to {@link #MAX_KEY_BYTES} bytes of UTF-8
   * @return the table
   * @throws CatalogException with {@link CatalogException.Reason#MISSING} if there is none of this
   *     name
   */
  public Table table(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      Table found = findTable(name);
      if (found == null) {
        throw missing("Table", name, tableNames());
      }
      return found;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Creates an ordinary table. The table is durable on return. The call is not part of a
   * transaction.
   *
   * @param name 1 to {@link #MAX_KEY_BYTES} bytes of UTF-8
   * @return the new table
   * @throws CatalogException with {@link CatalogException.Reason#EXISTS} if there is one of this
   *     name
   * @throws ConflictException if a transaction has created one of this name and has not ended
   */
  public Table createTable(String name) {
    return createTable(name, TableOptions.defaults());
  }

  /**
   * Creates a table with these options. The table is durable on return. The call is not part of a
   * transaction.
   *
   * @param name 1 to {@link #MAX_KEY_BYTES} bytes of UTF-8
   * @param options what it is created with
   * @return the new table
   * @throws CatalogException with {@link CatalogException.Reason#EXISTS} if there is one of this
   *     name
   * @throws ConflictException if a transaction has created one of this name and has not ended
   */
  public Table createTable(String name, TableOptions options) {
    Objects.requireNonNull(name, "name must not be null");
    Objects.requireNonNull(options, "options must not be null");
    try {
      demandWritable("table " + name + " cannot be created");
      Table created = engine.inside(() -> catalog.createNew(name, options));
      awaitTable(name); // a crash may not take back that it exists
      if (created == null) {
        throw exists("Table", name);
      }
      return created;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  private void demandWritable(String what) {
    if (engine.options().readOnly()) {
      throw new ReadOnlyDatabaseException(
          what + ", since the database was opened read-only; open it for writing");
    }
  }

  /** Refuses to create something in a read-only database. */
  private void demandCreatable(String what) {
    if (engine.options().readOnly()) {
      throw new ReadOnlyDatabaseException(
          "there is no " + what + ", and the database was opened read-only; open it for writing");
    }
  }

  /**
   * The exception for a name that does not exist.
   *
   * @param kind Table or Sequence, as in the names of the methods
   * @param names those that exist
   */
  private CatalogException missing(String kind, String name, List<String> names) {
    String called = kind.toLowerCase(Locale.ROOT);
    return new CatalogException(
        CatalogException.Reason.MISSING,
        "there is no %s %s in the database %s: %s; check the name, or create it with create%s or getOrCreate%s"
            .formatted(called, name, directory, NameHint.of(called, name, names), kind, kind));
  }

  /** Like {@link #missing}, for a name that exists. */
  private CatalogException exists(String kind, String name) {
    String called = kind.toLowerCase(Locale.ROOT);
    return new CatalogException(
        CatalogException.Reason.EXISTS,
        "the database %s has a %s %s; choose another name, or use %s or getOrCreate%s"
            .formatted(directory, called, name, called, kind));
  }

  /**
   * Returns a table, whatever its options are. If there is none of this name, an ordinary table is
   * created. It is durable on return, and the call is not part of a transaction.
   *
   * @param name 1 to {@link #MAX_KEY_BYTES} bytes of UTF-8
   * @return the table
   * @throws ConflictException if an open transaction has created one of this name; that transaction
   *     finds its table with {@link Transaction#findTable}
   */
  public Table getOrCreateTable(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      Table found = findTable(name);
      return found != null ? found : create(name, TableOptions.defaults());
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Returns a table with these options. If there is none of this name, it is created, and is
   * durable on return.
   *
   * @param name 1 to {@link #MAX_KEY_BYTES} bytes of UTF-8
   * @param options what it is created with, or was
   * @return the table
   * @throws CatalogException with {@link CatalogException.Reason#OTHER_OPTIONS} if there is a table
   *     of this name with other options
   * @throws ConflictException if a transaction has created one of this name and has not ended
   */
  public Table getOrCreateTable(String name, TableOptions options) {
    Objects.requireNonNull(name, "name must not be null");
    Objects.requireNonNull(options, "options must not be null");
    try {
      Table table = findTable(name);
      if (table == null) {
        table = create(name, options); // or another thread has, meanwhile
      }
      if (!table.options().equals(options)) {
        throw new CatalogException(
            CatalogException.Reason.OTHER_OPTIONS,
            "table "
                + name
                + " was created with "
                + table.options().partitions()
                + " partitions, not "
                + options.partitions()
                + ", which cannot be changed: open it without options, or copy its rows to a new table");
      }
      return table;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  private Table create(String name, TableOptions options) {
    demandCreatable("table " + name);
    while (true) {
      engine.inside(() -> catalog.create(name, options));
      Table found = findTable(name);
      if (found != null) { // else it was dropped meanwhile
        return found;
      }
    }
  }

  /**
   * Returns a table if it exists.
   *
   * @param name its name
   * @return the table, or null if there is none of this name
   */
  public @Nullable Table findTable(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      demandOpenSnapshot();
      Table found = engine.inside(() -> catalog.find(name));
      awaitTable(name);
      return found;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Waits for the changes of this name only. Transactions that work with other tables are not
   * waited for.
   */
  private void awaitTable(String name) {
    long changedAt = catalog.changedAt(name);
    if (changedAt != 0) {
      awaitCatalog(changedAt, "table " + name + " was created or dropped");
      catalog.isDurable(name, changedAt);
    }
  }

  /**
   * A result about a table or sequence, or its absence, is returned only if no crash can undo it
   * (R10).
   */
  private void awaitCatalog(long changedAt, String what) {
    try {
      engine.storage().log().awaitDurable(changedAt);
    } catch (DurabilityUnknownException | LogStoppedException e) {
      throw new OutcomeUnknownException(
          "the log failed while "
              + what
              + "; open the database again and see ("
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
    try {
      demandOpenSnapshot();
      List<String> names = engine.inside(catalog::names);
      awaitCatalog(catalog.changedAt(), "a table was created or dropped");
      return names;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Drops a table with all its rows. The drop is durable on return, and the name is free.
   *
   * <p>The drop is not part of a transaction; {@link Transaction#dropTable} is. The call waits,
   * without a time limit, for all open transactions that have written to the table, including idle
   * ones. During the wait other transactions cannot begin to write to the table; they receive
   * {@link ConflictException}.
   *
   * <p>After the drop, transactions that began before can still read the table through their {@link
   * Table}. Later ones receive {@link CatalogException.Reason#DROPPED}. When the last earlier
   * transaction has ended, the cleaner frees the pages. The file does not become shorter; see
   * {@link #compact}.
   *
   * @param name 1 to {@link #MAX_KEY_BYTES} bytes of UTF-8
   * @return whether this call dropped a table; false if there is none, or if another thread was
   *     faster
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if the call would wait for
   *     itself. This is so if this thread has written to the table in an open transaction, or if a
   *     writer of the table waits for an open transaction of this thread
   * @throws OutcomeUnknownException if the log failed before the drop was durable
   */
  public boolean dropTable(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      Table table = findTable(name);
      if (table == null) {
        return false;
      }
      demandWritable("table " + name + " cannot be dropped");
      boolean dropped;
      try {
        dropped = engine.tables().drops().drop(table);
      } catch (CatalogException told) {
        if (told.reason() == CatalogException.Reason.IN_USE) {
          awaitOutcomes();
        } // its writer may be prepared, and a crash must not undo that
        throw told;
      }
      awaitTable(name);
      engine.pokeCleaner();
      return dropped;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Removes all rows of a table, in a transaction of its own that is durable on return; see {@link
   * Transaction#truncate}.
   *
   * @param name 1 to {@link #MAX_KEY_BYTES} bytes of UTF-8
   * @return whether there was a table of this name
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if a prepared transaction
   *     or an open transaction of this thread has written to the table
   * @throws OutcomeUnknownException if the log failed before the truncation was durable
   */
  public boolean truncateTable(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      return call(
          TransactionOptions.of(Durability.DURABLE),
          tx -> {
            Table table = tx.findTable(name);
            if (table != null) {
              tx.truncate(table);
            }
            return table != null;
          });
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Returns a sequence that exists, whatever its options are. A name that does not exist is an
   * error, so that a wrong name does not create a sequence; {@link #findSequence} returns null
   * instead.
   *
   * @param name 1 to {@link #MAX_SEQUENCE_NAME_BYTES} bytes of UTF-8
   * @return the sequence
   * @throws CatalogException with {@link CatalogException.Reason#MISSING} if there is none of this
   *     name
   */
  public Sequence sequence(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      Sequence found = findSequence(name);
      if (found == null) {
        throw missing("Sequence", name, sequenceNames());
      }
      return found;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Creates a sequence with {@link SequenceOptions#defaults}. The sequence is durable on return.
   * The call is not part of a transaction. A table may have the same name.
   *
   * @param name 1 to {@link #MAX_SEQUENCE_NAME_BYTES} bytes of UTF-8
   * @return the new sequence
   * @throws CatalogException with {@link CatalogException.Reason#EXISTS} if there is one of this
   *     name
   */
  public Sequence createSequence(String name) {
    return createSequence(name, SequenceOptions.defaults());
  }

  /**
   * Creates a sequence with these options. The sequence is durable on return. The call is not part
   * of a transaction.
   *
   * @param name 1 to {@link #MAX_SEQUENCE_NAME_BYTES} bytes of UTF-8
   * @param options what it is created with
   * @return the new sequence
   * @throws CatalogException with {@link CatalogException.Reason#EXISTS} if there is one of this
   *     name
   */
  public Sequence createSequence(String name, SequenceOptions options) {
    Objects.requireNonNull(name, "name must not be null");
    Objects.requireNonNull(options, "options must not be null");
    try {
      demandWritable("sequence " + name + " cannot be created");
      Sequence created = engine.inside(() -> sequences.createNew(name, options));
      awaitSequences(); // a crash may not take back that it exists
      if (created == null) {
        throw exists("Sequence", name);
      }
      return created;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Returns a sequence, whatever its options are. If there is none of this name, one is created
   * with {@link SequenceOptions#defaults}. It is durable on return, and the call is not part of a
   * transaction.
   *
   * @param name 1 to {@link #MAX_SEQUENCE_NAME_BYTES} bytes of UTF-8
   * @return the sequence
   */
  public Sequence getOrCreateSequence(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      return findOrCreate(name, SequenceOptions.defaults());
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Returns a sequence with these options. If there is none of this name, it is created. It is
   * durable on return, and the call is not part of a transaction.
   *
   * @param name 1 to {@link #MAX_SEQUENCE_NAME_BYTES} bytes of UTF-8
   * @param options what it is created with, or was
   * @return the sequence
   * @throws CatalogException with {@link CatalogException.Reason#OTHER_OPTIONS} if there is a
   *     sequence of this name with other options
   */
  public Sequence getOrCreateSequence(String name, SequenceOptions options) {
    Objects.requireNonNull(name, "name must not be null");
    Objects.requireNonNull(options, "options must not be null");
    try {
      Sequence found = findOrCreate(name, options); // or another thread has created it meanwhile
      if (!found.options().equals(options)) {
        throw new CatalogException(
            CatalogException.Reason.OTHER_OPTIONS,
            "sequence "
                + name
                + " was created with "
                + found.options()
                + ", not with "
                + options
                + "; open it without options, or create another with another name");
      }
      return found;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  private Sequence findOrCreate(String name, SequenceOptions options) {
    Sequence found = findSequence(name);
    if (found != null) {
      return found;
    }
    demandCreatable("sequence " + name);
    Sequence created = engine.inside(() -> sequences.findOrCreate(name, options));
    awaitSequences();
    return created;
  }

  /**
   * Returns a sequence if it exists.
   *
   * @param name its name
   * @return the sequence, or null if there is none of this name
   */
  public @Nullable Sequence findSequence(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      Sequence found = engine.inside(() -> sequences.find(name));
      awaitSequences();
      return found;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /** The list of sequences must not contain an answer that a crash could undo (R10). */
  private void awaitSequences() {
    awaitCatalog(sequences.createdAt(), "a sequence was created");
  }

  /**
   * The names of all sequences.
   *
   * @return in order
   */
  public List<String> sequenceNames() {
    try {
      List<String> names = engine.inside(sequences::names);
      awaitSequences();
      return names;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Begins a transaction with {@link TransactionOptions#defaults}.
   *
   * @return the transaction; it sees what is committed now
   */
  public Transaction begin() {
    return begin(usual);
  }

  /**
   * Begins a transaction.
   *
   * @param options its options
   * @return the transaction; it sees what is committed now
   */
  public Transaction begin(TransactionOptions options) {
    Objects.requireNonNull(options, "options must not be null");
    StackReserve.ensure();
    return beginReserved(options);
  }

  /** Begins a transaction; the caller has checked that there is stack. */
  private Transaction beginReserved(TransactionOptions options) {
    return options.durability() == null ? beginWith(inheriting(options)) : beginWith(options);
  }

  /** Completes options that leave the durability open: they get that of the database. */
  private TransactionOptions inheriting(TransactionOptions options) {
    return options.equals(TransactionOptions.defaults())
        ? usual
        : options.withDurability(this.options.durability());
  }

  private Transaction beginWith(TransactionOptions options) {
    try {
      demandOpenSnapshot();
      @Nullable Throwable begun =
          engine.options().leakTraces() ? new Throwable("the transaction was begun here") : null;
      int stripe = engine.gate().enter();
      try {
        if (options.isolation() != Isolation.SERIALIZABLE) {
          return begin(options, begun, null);
        }
        Transaction alone = options.readOnly() ? beginAlone(options, begun) : null;
        return alone == null ? beginSerializable(options, begun) : alone;
      } finally {
        engine.gate().exit(stripe);
      }
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Begins a serializable transaction that only reads. Its place in the order is its snapshot, so
   * no other transaction has to know of it. Returns null if a prepared transaction may come before
   * the snapshot in that order and is not visible in it.
   */
  private @Nullable Transaction beginAlone(TransactionOptions options, @Nullable Throwable begun) {
    ActiveSnapshots snapshots = engine.snapshots();
    int slot = snapshots.open(engine.clock());
    if (engine.storage().transactions().hasPreparedAbove(snapshots.snapshot(slot))) {
      snapshots.close(slot);
      return null;
    }
    return beginIn(slot, options, begun, null);
  }

  private Transaction beginSerializable(TransactionOptions options, @Nullable Throwable begun) {
    SerialReads reads = engine.certifier().begin(); // before its snapshot
    try {
      return begin(options, begun, reads);
    } catch (Throwable noMemory) {
      engine.certifier().end(reads);
      throw noMemory;
    }
  }

  private Transaction begin(
      TransactionOptions options, @Nullable Throwable begun, @Nullable SerialReads reads) {
    return beginIn(engine.snapshots().open(engine.clock()), options, begun, reads);
  }

  /** Begins a transaction in an open slot. If that fails, the slot is closed. */
  private Transaction beginIn(
      int slot,
      TransactionOptions options,
      @Nullable Throwable begun,
      @Nullable SerialReads reads) {
    try {
      return new Transaction(engine, slot, options, begun, reads);
    } catch (Throwable noMemory) {
      engine.snapshots().close(slot);
      throw noMemory;
    }
  }

  /**
   * Calls the body with a new transaction and commits it. After a conflict the transaction is
   * rolled back, and the body is called again with another one. {@link Transaction#attempt} and
   * {@link Transaction#lastConflict} report this to the body; {@link DatabaseStatistics#retries}
   * counts it.
   *
   * <p>Between two attempts the thread pauses for a random time of at most {@link
   * DatabaseOptions#maxBackoff}. If another transaction still holds a row that the last attempt
   * wanted to lock, or that several attempts wanted, the thread waits for the end of that
   * transaction instead. Threads that wait for the same row continue in the order of their arrival.
   * The thread holds nothing during the pause.
   *
   * <p>The last conflict is thrown, with the number of attempts in its message, in these cases:
   *
   * <ul>
   *   <li>The time of {@link TransactionOptions#withRetryTimeout} is over, by default 30 s after
   *       the first conflict.
   *   <li>There were {@link DatabaseOptions#maxAttempts} attempts.
   *   <li>The thread is interrupted.
   *   <li>The reason is {@link ConflictReason#LOCK_TIMEOUT}.
   *   <li>The other transaction is an open one of this thread, so the thread would wait for itself.
   *       Transactions of all enclosing calls of {@code run} are of this thread. A transaction that
   *       {@code begin} has returned is of the thread that was the last to write with it.
   * </ul>
   *
   * <p>If the body catches a conflict, the statement has changed nothing, and the rest of the
   * transaction is committed. If the body throws a {@link ConflictException}, the body is called
   * again. That holds for each such exception: of another transaction, of another database, or of
   * an inner call of {@code run} that has used up its own attempts.
   *
   * <p>Any other exception of the body is thrown after a rollback. A body that throws a checked
   * exception needs {@link #runThrowing(ThrowingBody)}.
   *
   * @param body the work; it may be called more than once
   */
  public void run(TransactionBody body) {
    runThrowing(usual, body);
  }

  /**
   * As {@link #run(TransactionBody)}, in a transaction with other options.
   *
   * @param options of the transaction
   * @param body the work; it may be called more than once
   */
  public void run(TransactionOptions options, TransactionBody body) {
    runThrowing(options, body);
  }

  /**
   * As {@link #run(TransactionBody)}, for work that throws a checked exception.
   *
   * @param body the work; it may be called more than once
   * @param <X> what it throws
   * @throws X what the work threw: the transaction was rolled back
   */
  public <X extends Exception> void runThrowing(ThrowingBody<X> body) throws X {
    runThrowing(usual, body);
  }

  /**
   * As {@link #runThrowing(ThrowingBody)}, in a transaction with other options.
   *
   * @param options of the transaction
   * @param body the work; it may be called more than once
   * @param <X> what it throws
   * @throws X what the work threw: the transaction was rolled back
   */
  public <X extends Exception> void runThrowing(TransactionOptions options, ThrowingBody<X> body)
      throws X {
    Objects.requireNonNull(body, "body must not be null");
    this.<@Nullable Object, X>callThrowing(
        options,
        transaction -> {
          body.run(transaction);
          return null;
        });
  }

  /**
   * Reads in a transaction that refuses every write, and returns the result. It sees one snapshot,
   * and conflicts with no other transaction. Its durability is that of the database: if that is
   * {@link Durability#DURABLE}, nothing is returned that a crash could take back.
   *
   * @param body the reads
   * @param <T> what they return
   * @return what the body returned
   * @throws TransactionStateException with {@link TransactionStateException.Reason#READ_ONLY} if
   *     the body writes
   */
  public <T extends @Nullable Object> T read(TransactionCall<T> body) {
    return callThrowing(reading, body);
  }

  /**
   * As {@link #read(TransactionCall)}, in a read-only transaction with other options.
   *
   * @param options options of the transaction; it is read-only even if they do not set that
   * @param body the reads
   * @param <T> what they return
   * @return what the body returned
   * @throws TransactionStateException with {@link TransactionStateException.Reason#READ_ONLY} if
   *     the body writes
   */
  public <T extends @Nullable Object> T read(TransactionOptions options, TransactionCall<T> body) {
    return callThrowing(options.withReadOnly(true), body);
  }

  /**
   * As {@link #read(TransactionCall)}, for reads that throw a checked exception.
   *
   * @param body the reads
   * @param <T> what they return
   * @param <X> what they throw
   * @return what the body returned
   * @throws TransactionStateException with {@link TransactionStateException.Reason#READ_ONLY} if
   *     the body writes
   * @throws X what the body threw
   */
  public <T extends @Nullable Object, X extends Exception> T readThrowing(ThrowingCall<T, X> body)
      throws X {
    return callThrowing(reading, body);
  }

  /**
   * As {@link #readThrowing(ThrowingCall)}, in a read-only transaction with other options.
   *
   * @param options options of the transaction; it is read-only even if they do not set that
   * @param body the reads
   * @param <T> what they return
   * @param <X> what they throw
   * @return what the body returned
   * @throws TransactionStateException with {@link TransactionStateException.Reason#READ_ONLY} if
   *     the body writes
   * @throws X what the body threw
   */
  public <T extends @Nullable Object, X extends Exception> T readThrowing(
      TransactionOptions options, ThrowingCall<T, X> body) throws X {
    return callThrowing(options.withReadOnly(true), body);
  }

  /**
   * As {@link #run(TransactionBody)}, with a result.
   *
   * @param body the work; it may be called more than once
   * @param <T> what it returns
   * @return what the work returned when it was committed
   */
  public <T extends @Nullable Object> T call(TransactionCall<T> body) {
    return callThrowing(usual, body);
  }

  /**
   * As {@link #call(TransactionCall)}, in a transaction with other options.
   *
   * @param options of the transaction
   * @param body the work; it may be called more than once
   * @param <T> what it returns
   * @return what the work returned when it was committed
   */
  public <T extends @Nullable Object> T call(TransactionOptions options, TransactionCall<T> body) {
    return callThrowing(options, body);
  }

  /**
   * As {@link #call(TransactionCall)}, for work that throws a checked exception.
   *
   * @param body the work; it may be called more than once
   * @param <T> what it returns
   * @param <X> what it throws
   * @return what the work returned when it was committed
   * @throws X what the work threw: the transaction was rolled back
   */
  public <T extends @Nullable Object, X extends Exception> T callThrowing(ThrowingCall<T, X> body)
      throws X {
    return callThrowing(usual, body);
  }

  /**
   * As {@link #callThrowing(ThrowingCall)}, in a transaction with other options.
   *
   * @param options of the transaction
   * @param body the work; it may be called more than once
   * @param <T> what it returns
   * @param <X> what it throws
   * @return what the work returned when it was committed
   * @throws X what the work threw: the transaction was rolled back
   */
  @SuppressWarnings("ReferenceEquality") // whether it is the exception object that the work threw
  public <T extends @Nullable Object, X extends Exception> T callThrowing(
      TransactionOptions options, ThrowingCall<T, X> body) throws X {
    Objects.requireNonNull(options, "options must not be null");
    Objects.requireNonNull(body, "body must not be null");
    Throwable bodys = null; // it is an exception of the user's code
    Retry retry = null;
    try {
      while (true) {
        StackReserve.ensureForTwo(); // for the begin, and for the commit
        Transaction transaction = beginReserved(options);
        transaction.core().attempt(retry);
        try (transaction) {
          try {
            T result;
            try {
              result = body.call(transaction);
            } catch (Throwable thrown) {
              bodys = thrown;
              throw thrown;
            }
            transaction.commitReserved();
            return result;
          } catch (ConflictException conflict) {
            if (retry == null) {
              retry = new Retry(engine, options);
            }
            retry.failed(transaction.core(), conflict);
            throw conflict;
          }
        } catch (ConflictException conflict) {
          ConflictException last = retry == null ? conflict : retry.awaitTurn(conflict);
          if (last != null) {
            awaitTold(transaction, last);
            throw last;
          }
        } catch (Throwable thrown) {
          awaitTold(transaction, thrown);
          throw thrown;
        }
      }
    } catch (RuntimeException failure) {
      throw failure == bodys ? failure : engine.told(failure);
    } finally {
      end(retry);
    }
  }

  private void end(@Nullable Retry retry) {
    try {
      if (retry != null) {
        retry.end();
      }
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  private static void awaitTold(Transaction transaction, Throwable thrown) {
    try {
      transaction.core().awaitToldWithoutCommit();
    } catch (RuntimeException stopped) {
      if (thrown instanceof OutcomeUnknownException unknown) {
        unknown.addSuppressed(stopped);
        throw unknown; // its message has more: the transaction may be committed
      }
      stopped.addSuppressed(thrown);
      throw stopped;
    }
  }

  /**
   * Begins a load of rows, in ascending order of their keys or unsorted, with {@link
   * DatabaseOptions#durability}.
   *
   * @param table a table of this database; the load is fast if all its keys are below the new ones
   * @return the load; close it
   */
  public BulkLoad bulkLoad(Table table) {
    return bulkLoad(table, usual);
  }

  /**
   * As {@link #bulkLoad(Table)}, in a transaction with other options.
   *
   * @param table a table of this database; the load is fast if all its keys are below the new ones
   * @param options options of its transaction
   * @return the load; close it
   */
  public BulkLoad bulkLoad(Table table, TransactionOptions options) {
    return bulkLoad(table, options, BulkLoadOptions.defaults());
  }

  /**
   * As {@link #bulkLoad(Table, TransactionOptions)}, with memory for unsorted rows and a listener.
   *
   * @param table a table of this database; the load is fast if all its keys are below the new ones
   * @param options options of its transaction
   * @param loadOptions options of the load
   * @return the load; close it
   */
  public BulkLoad bulkLoad(Table table, TransactionOptions options, BulkLoadOptions loadOptions) {
    Objects.requireNonNull(table, "table must not be null");
    Objects.requireNonNull(options, "options must not be null");
    Objects.requireNonNull(loadOptions, "loadOptions must not be null");
    try {
      TableState.of(table).demandOf(engine);
      // It reads nothing, so its isolation does not matter until it ends.
      Transaction transaction = begin(options.withIsolation(Isolation.SNAPSHOT));
      try {
        return new BulkLoad(transaction, table, loadOptions);
      } catch (Throwable failure) {
        transaction.close();
        throw failure;
      }
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Reports what the open of this database did: times, log read, pages read, aborted transactions.
   *
   * @return the report
   */
  public RecoveryReport recoveryReport() {
    try {
      return open.recovery();
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Returns the counters of the database since it was opened, and its current sizes and positions.
   * The call visits each frame of the pool.
   *
   * @return the current statistics
   */
  public DatabaseStatistics statistics() {
    try {
      demandOpenSnapshot();
      return engine.inside(open::statistics);
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Returns how often and how long threads have waited since the database was opened, for each
   * class of wait.
   *
   * @return the current counts, all times in nanoseconds
   */
  public Waits waitStatistics() {
    try {
      return engine.inside(open::waits);
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /** For tests: brings the counters file up to date now, if the options ask for one. */
  void writeCounters() {
    FileThread.call(
        "revenant-counters",
        () -> {
          open.writeCounters();
          return true;
        });
  }

  /**
   * The names of all transactions that are {@linkplain Transaction#prepare prepared} and not yet
   * committed or rolled back. They may have been prepared before a restart.
   *
   * @return the names, in no particular order; if a prepared transaction is missing, its outcome is
   *     durable
   */
  public List<byte[]> preparedTransactions() {
    try {
      List<byte[]> names = engine.inside(() -> engine.prepared().names());
      awaitOutcomes();
      return names;
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Commits a prepared transaction. Durable on return. A second call, for example after a lost
   * response, returns false. So do not use a name again.
   *
   * @param name its name
   * @return whether a transaction of this name was prepared
   * @throws OutcomeUnknownException if the log failed; the transaction is committed or still
   *     prepared
   */
  public boolean commitPrepared(byte[] name) {
    checkName(name);
    try {
      return decide(prepared -> prepared.commit(name));
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Rolls a prepared transaction back, in constant time. Durable on return.
   *
   * @param name its name
   * @return whether a transaction of this name was prepared
   * @throws OutcomeUnknownException if the log failed; the transaction is rolled back or still
   *     prepared
   */
  public boolean rollbackPrepared(byte[] name) {
    checkName(name);
    try {
      return decide(prepared -> prepared.rollback(name));
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  private boolean decide(ToLongFunction<PreparedTransactions> decision) {
    demandWritable("a prepared transaction cannot be decided upon");
    long lsn = engine.inside(() -> decision.applyAsLong(engine.prepared()));
    if (lsn == 0) {
      awaitOutcomes();
      return false;
    }
    engine.pokeCleaner();
    try {
      engine.storage().log().awaitDurable(lsn);
    } catch (DurabilityUnknownException | LogStoppedException e) {
      throw PreparedTransactions.undecided(e);
    }
    return true;
  }

  /** The answer "there is no such transaction" is returned only if no crash can undo it (R10). */
  private void awaitOutcomes() {
    engine.awaitDurable(engine.prepared().lastLsn());
  }

  /** Refuses a name that is empty or too long. */
  static void checkName(byte[] name) {
    Objects.requireNonNull(name, "name must not be null");
    Names.demandLength("a prepared transaction", name, MAX_PREPARED_NAME_BYTES, "bytes");
  }

  /**
   * Makes all earlier commits durable, including lazy ones. Returns when they are.
   *
   * @throws DatabaseStoppedException if the log has failed; lazy commits that were not durable may
   *     be lost
   */
  public void sync() {
    try {
      engine.inside(() -> null); // or the exception would not report that the database is closed
      engine.awaitDurable(engine.storage().log().tail());
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /** Writes all changed pages. A restart after this has almost nothing to redo. */
  public void checkpoint() {
    try {
      engine.inside(() -> {
        open.checkpoint();
        return null;
      });
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Makes the cleaner do all its current work: it reverts rows of aborted transactions, and drops
   * versions that no snapshot needs. The cleaner works by itself; this call is for tests and
   * measurements.
   */
  public void cleanNow() {
    try {
      // Not inside the gate: the cleaner's own steps pass through it.
      engine.inside(() -> null);
      open.cleanNow();
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Makes the data file shorter: moves pages from its end to free pages nearer its beginning, and
   * truncates it. Other threads can read and write meanwhile. Pages that open transactions still
   * read, or have just written, stay where they are; a later call can move them. The first page of
   * a table stays while a transaction that has created, dropped or truncated the table is open.
   *
   * @return what was moved and freed
   */
  public CompactReport compact() {
    try {
      engine.inside(() -> null);
      return open.compact();
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Copies the database to another directory while it is in use, with {@link
   * BackupOptions#defaults}.
   *
   * @param target a directory that is empty or does not exist
   * @return a report about the copy
   * @throws StorageException as {@link #backup(Path, BackupOptions)} does
   */
  public BackupReport backup(Path target) {
    return backup(target, BackupOptions.defaults());
  }

  /**
   * Copies the database to another directory while it is in use.
   *
   * <p>The copy has every transaction that was committed before this call began, and those that
   * were committed until shortly before its end. Each transaction is in the copy as a whole or not
   * at all. The copy is a database of its own, with another id. Its first open runs a restart.
   * Prepared transactions are prepared in the copy, too.
   *
   * <p>Readers and writers continue. One backup is made at a time. An interrupt, the listener and a
   * close of the database end it. A copy that is not complete cannot be opened as a database.
   *
   * <p>With {@link BackupOptions#withSince} the backup is an increment: it has only the pages that
   * have changed since another backup of this database. It is not a database; {@link #applyBackups}
   * makes one of that backup and of the increment.
   *
   * @param target a directory that is empty or does not exist, in any file system
   * @param options limit, listener, and the backup that an increment is made since
   * @return a report about the copy
   * @throws StorageException with {@link StorageException.Reason#BACKUP_TARGET} if the target is
   *     not empty; with {@link StorageException.Reason#BACKUP_BASE} if an increment is to be made
   *     since a backup that this database does not know; with {@link
   *     StorageException.Reason#BACKUP_TOO_SLOW} if the log grew faster than it was copied; with
   *     another reason if a file cannot be read or written. The database is unharmed
   * @throws java.util.concurrent.CancellationException if the listener or an interrupt has ended
   *     it; the thread stays interrupted
   * @throws IllegalStateException if another backup of this database is being made
   * @throws ReadOnlyDatabaseException if the database is open read-only and was not closed cleanly:
   *     open it for writing, which recovers it
   * @throws DatabaseClosedException if the database is closed meanwhile
   */
  public BackupReport backup(Path target, BackupOptions options) {
    Objects.requireNonNull(target, "target must not be null");
    Objects.requireNonNull(options, "options must not be null");
    try {
      demandOpenSnapshot();
      engine.inside(() -> null);
      return open.backups().backup(target, options);
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Copies the database to a stream while it is in use. {@link #unpackBackup} makes a database of
   * the stream. It has the format of tar, and is not compressed.
   *
   * <p>The copy has what {@link #backup(Path, BackupOptions)} would copy, and can be an increment,
   * too. The engine writes to the stream only on the calling thread. At the end it flushes the
   * stream, and does not close it. If this method throws, what was written need not be a backup,
   * and should be thrown away.
   *
   * <p>If a write to the stream blocks, the database works on, and can be closed. If writers then
   * need the log, the backup fails. This method returns when the stream returns.
   *
   * @param target receives the copy, for example a file, a pipe or an upload
   * @param options limit and listener; the listener is not called while the stream blocks
   * @return a report about the copy, without a target
   * @throws StorageException with {@link StorageException.Reason#IO} if the stream has thrown an
   *     exception, which is its cause; with {@link StorageException.Reason#BACKUP_TOO_SLOW} if the
   *     log grew faster than the stream took it; with another reason if a file cannot be read. The
   *     database is unharmed
   * @throws java.util.concurrent.CancellationException if the listener or an interrupt has ended
   *     it; the thread stays interrupted
   * @throws IllegalStateException if another backup of this database is being made
   * @throws ReadOnlyDatabaseException if the database is open read-only and was not closed cleanly:
   *     open it for writing, which recovers it
   * @throws DatabaseClosedException if the database is closed meanwhile
   */
  public BackupReport backup(OutputStream target, BackupOptions options) {
    Objects.requireNonNull(target, "target must not be null");
    Objects.requireNonNull(options, "options must not be null");
    try {
      demandOpenSnapshot();
      engine.inside(() -> null);
      return open.backups().backup(target, options);
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Makes a database of a stream that {@link #backup(OutputStream, BackupOptions)} has written. The
   * directory is the same as that of a backup without a stream: its first open runs a restart.
   *
   * <p>The stream is checked completely. It is read up to the end of the backup, on the calling
   * thread, and is not closed.
   *
   * @param stream begins where the backup begins
   * @param directory a directory that is empty or does not exist, in any file system
   * @return a report about the database
   * @throws StorageException with {@link StorageException.Reason#BACKUP_STREAM} if the stream ends
   *     early, is damaged, or is something else; with {@link StorageException.Reason#BACKUP_TARGET}
   *     if the directory is not empty; with another reason if the stream or a file has failed.
   *     Nothing that can be opened is left in the directory
   */
  public static BackupReport unpackBackup(InputStream stream, Path directory) {
    Objects.requireNonNull(stream, "stream must not be null");
    Objects.requireNonNull(directory, "directory must not be null");
    FileThread.databaseOpens();
    try {
      return BackupApply.ofStream(stream, directory, DatabaseFiles.NAMES).run();
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    } finally {
      FileThread.databaseClosed();
    }
  }

  /**
   * Makes a database of a whole backup and of the increments after it, without a listener.
   *
   * @param backups the whole backup, then one or more increments in the order in which they were
   *     made
   * @param directory a directory that is empty or does not exist, in any file system
   * @return a report about the database
   * @throws StorageException as {@link #applyBackups(List, Path, Predicate)} does
   */
  public static BackupReport applyBackups(List<Path> backups, Path directory) {
    return applyBackups(backups, directory, progress -> true);
  }

  /**
   * Makes a database of a whole backup and of the increments after it. The directory is what a
   * whole backup at the moment of the last increment would have been: its first open runs a
   * restart, and later increments can be applied to it. Nothing is changed in the backups.
   *
   * @param backups the whole backup, then one or more increments in the order in which they were
   *     made; each a directory, or a file with what {@link #backup(OutputStream, BackupOptions)}
   *     has written
   * @param directory a directory that is empty or does not exist, in any file system
   * @param listener receives the progress several times a second, on a thread of the engine. It
   *     returns whether the work continues
   * @return a report about the database
   * @throws java.util.concurrent.CancellationException if the listener has returned false, or has
   *     thrown an exception; nothing is left in the directory
   * @throws StorageException with {@link StorageException.Reason#BACKUP_BASE} if an increment was
   *     not made since the backup before it, or the whole backup was opened for writing since; with
   *     {@link StorageException.Reason#BACKUP_STREAM} or {@link StorageException.Reason#DAMAGED} if
   *     a backup is damaged or ends early; with {@link StorageException.Reason#BACKUP_TARGET} if
   *     the directory is not empty; with another reason if a file has failed. Nothing that can be
   *     opened is left in the directory
   */
  public static BackupReport applyBackups(
      List<Path> backups, Path directory, Predicate<RestoreProgress> listener) {
    Objects.requireNonNull(directory, "directory must not be null");
    Objects.requireNonNull(listener, "listener must not be null");
    List<Path> chain = List.copyOf(backups);
    if (chain.size() < 2) {
      throw new IllegalArgumentException(
          "backups must be a whole backup and at least one increment, not "
              + chain.size()
              + "; a whole backup in a directory is a database already, and unpackBackup takes one in a stream");
    }
    FileThread.databaseOpens();
    try {
      return FileThread.call(
          "revenant-apply",
          () -> BackupApply.of(chain, directory, DatabaseFiles.NAMES, listener).run());
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    } finally {
      FileThread.databaseClosed();
    }
  }

  /**
   * Returns the id of a backup, for {@link BackupOptions#withSince}.
   *
   * @param backup a directory with a whole backup or an increment, or a file with what {@link
   *     #backup(OutputStream, BackupOptions)} has written
   * @return its id, 32 hexadecimal digits
   * @throws StorageException with {@link StorageException.Reason#BACKUP_BASE} if it was opened for
   *     writing since it was made; with another reason if it is no backup, or cannot be read
   */
  public static String backupId(Path backup) {
    Objects.requireNonNull(backup, "backup must not be null");
    FileThread.databaseOpens();
    try {
      return FileThread.call(
          "revenant-backup-id", () -> BackupApply.idOf(backup, DatabaseFiles.NAMES));
    } catch (RuntimeException failure) {
      throw Boundary.told(backup, failure);
    } finally {
      FileThread.databaseClosed();
    }
  }

  /**
   * Waits until the archive of {@link DatabaseOptions#archive} has everything that is durable now,
   * and a base, so that this moment can be restored.
   *
   * @throws StorageException if the archive cannot be written; it is tried again in the background
   * @throws IllegalStateException if the database was opened without an archive, or read-only
   * @throws DatabaseClosedException if the database is closed meanwhile
   */
  public void archiveNow() {
    try {
      engine.inside(() -> null);
      Archiver archiver = open.archiver();
      if (archiver == null) {
        throw new Misuse.OfState(
            "the database " + directory + " has no archive: open it for writing with withArchive");
      }
      archiver.await();
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Restores a database from an archive, as it was at a moment. The restored database has an id of
   * its own and begins a new history. Neither its files nor its archive can be mixed with those of
   * the original. Its first open runs a restart.
   *
   * @param archive the directory of the archive, which another process may be writing
   * @param directory the target: a directory that is empty or does not exist, in any file system
   * @param options the moment
   * @return a report about the restored database
   * @throws StorageException with {@link StorageException.Reason#ARCHIVE_LACKS_MOMENT} if the
   *     archive does not have that moment; with {@link StorageException.Reason#BACKUP_TARGET} if
   *     the directory is not empty; with another reason if the archive is damaged, or a file cannot
   *     be read or written. The archive is unharmed
   * @throws java.util.concurrent.CancellationException if the listener has ended it
   */
  public static RestoreReport restore(Path archive, Path directory, RestoreRequest options) {
    Objects.requireNonNull(archive, "archive must not be null");
    Objects.requireNonNull(directory, "directory must not be null");
    Objects.requireNonNull(options, "options must not be null");
    FileThread.databaseOpens();
    try {
      return FileThread.call(
          "revenant-restore",
          () -> new Restore(archive, directory, DatabaseFiles.NAMES, options).run());
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    } finally {
      FileThread.databaseClosed();
    }
  }

  /**
   * Follows a database with the default options; see {@link #follow(Path, Path, FollowerOptions)}.
   *
   * @param archive the archive of the database
   * @param directory the files of the follower
   * @return the follower
   */
  public static Follower follow(Path archive, Path directory) {
    return follow(archive, directory, FollowerOptions.defaults());
  }

  /**
   * Follows a database that another process writes, on this machine or on another one that sees the
   * archive. The follower has a copy of its own, which is made from the newest base of the archive
   * if the directory is empty or does not exist; else the follower goes on where it was, also while
   * the archive cannot be reached.
   *
   * @param archive the archive that the database was opened with
   * @param directory the files of the follower, in any file system
   * @param options how
   * @return the follower, with its first snapshot
   * @throws StorageException with {@link StorageException.Reason#ARCHIVE_LACKS_MOMENT} if the
   *     archive has no base yet, with {@link StorageException.Reason#LOCKED} if the directory is in
   *     use, with {@link StorageException.Reason#NOT_A_DATABASE} if it is that of a database which
   *     is no follower, with {@link StorageException.Reason#ARCHIVE_FOREIGN} if its follower has
   *     followed another archive, with another reason if a file cannot be read or written
   */
  public static Follower follow(Path archive, Path directory, FollowerOptions options) {
    Objects.requireNonNull(archive, "archive must not be null");
    Objects.requireNonNull(directory, "directory must not be null");
    Objects.requireNonNull(options, "options must not be null");
    return Follower.begin(archive, directory, options);
  }

  /**
   * Deletes from an archive what a policy does not keep. A database may be writing to the archive
   * meanwhile. A restore that reads deleted files fails, and can be repeated.
   *
   * @param archive the directory of the archive
   * @param policy what is kept
   * @return how many bases were deleted
   * @throws StorageException if the archive is damaged, or a file cannot be deleted
   */
  public static int pruneArchive(Path archive, ArchivePolicy policy) {
    Objects.requireNonNull(archive, "archive must not be null");
    Objects.requireNonNull(policy, "policy must not be null");
    FileThread.databaseOpens();
    try {
      return FileThread.call("revenant-prune", () -> Restore.prune(archive, policy));
    } catch (RuntimeException failure) {
      throw Boundary.told(archive, failure);
    } finally {
      FileThread.databaseClosed();
    }
  }

  /**
   * Checks the whole database. Each page is reached once, keys are in order, large values are
   * complete, and space maps are correct. Each page of the file, free ones included, has the
   * contents that were written last.
   *
   * <p>The check sees the database as of one moment. It blocks other threads for that moment only.
   * They continue during the check. If a thread changes a page that the check has not read yet, the
   * page is copied first. If the copies reach an eighth of the pool, writers wait for the end of
   * the check. Pages that are freed meanwhile are reused after the check, so the file may grow. One
   * check runs at a time. The close of the database ends a check with {@link
   * DatabaseClosedException}.
   *
   * @return the report
   */
  public CheckReport check() {
    try {
      demandOpenSnapshot();
      engine.inside(catalog::finish); // it then finds the state that all transactions see
      return FileThread.call("revenant-check", open.liveCheck()::run);
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * Closes the database: waits for calls of other threads, rolls back open transactions, and writes
   * all changes. Lazy commits are durable on return, and the next open has nothing to recover. Does
   * nothing if the database is closed.
   *
   * @throws DatabaseStoppedException if the engine had stopped; all files and threads are released,
   *     and the next open has to recover
   */
  @Override
  public void close() {
    Runnable ofView = giveBack;
    if (ofView != null) {
      if (!leftThreads.getAndSet(true)) {
        ofView.run();
      }
      return;
    }
    AdminSocket socket = admin;
    try {
      if (socket == null) {
        close(open);
      } else {
        close(open, socket);
      }
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    } finally {
      ForgottenTransactions.awaitEnd();
      if (!leftThreads.getAndSet(true)) {
        FileThread.databaseClosed();
      }
    }
  }

  /** The socket goes before the directory is given back; its threads end after their calls. */
  private static void close(OpenDatabase open, AdminSocket socket) {
    try {
      socket.stop();
    } finally {
      try {
        close(open);
      } finally {
        socket.close();
      }
    }
  }

  private static void close(OpenDatabase open) {
    FileThread.call(
        "revenant-close",
        () -> {
          open.close();
          return true;
        });
  }
}
