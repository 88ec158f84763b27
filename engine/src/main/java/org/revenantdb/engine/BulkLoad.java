package org.revenantdb.engine;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.TableTrees;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.StreamedValue;
import org.revenantdb.engine.session.TransactionCore;
import org.revenantdb.engine.sort.SortedChanges;
import org.revenantdb.engine.version.RowLoader;
import org.revenantdb.engine.version.RowWriter;

/**
 * Stores many rows, at the speed of writing full pages. All rows become visible together with
 * {@link #finish}.
 *
 * <p>Rows that are in ascending order of their keys are stored as they come, by {@link #add}. Rows
 * in any other order are added by {@link #addUnsorted}, which sorts them first. A load takes either
 * sorted or unsorted rows, not both.
 *
 * <p>The load is fast while its keys are above all keys of the table, for example in an empty
 * table. Other rows are stored one by one, as {@link Transaction#put} does. Other transactions can
 * read and write the table during the load. A load is a transaction of any size. It is {@link
 * Durability#DURABLE} unless its options say otherwise.
 *
 * <p>The load gathers rows in up to eight pages of memory, and takes 18 KB of the heap for each of
 * these. In a table with partitions, it does so for each partition.
 *
 * <p>Unsorted rows wait in memory until {@link #finish}. If there are more than {@link
 * BulkLoadOptions#sortMemory} has room for, they go to temporary files in the directory of the
 * database ({@code sorts-N.spill}). These need about as much space as the rows, and twice as much
 * while runs are merged. They are deleted when the load ends, and after a crash at the next open.
 *
 * <p>A refused row changes nothing, and the load can go on. A row is refused if its key is not
 * above the one before, if key or value is too long, or if the stream of its value throws. Any
 * other exception ends the load, and nothing of it is left. The same holds after {@link #close}
 * without {@link #finish}, and after a crash.
 *
 * <p>Threads: one at a time, as with a transaction.
 *
 * {@snippet :
 * try (BulkLoad load = db.bulkLoad(table)) {
 *   while (rows.next()) {
 *     load.add(rows.key(), rows.value());
 *   }
 *   load.finish();
 * }
 * }
 */
public final class BulkLoad implements AutoCloseable {
  /** Rows between two reports to the listener. */
  private static final long REPORTED = 1 << 16;

  /** A larger value of an unsorted row comes to memory in pieces. */
  private static final int LARGEST_ARRAY = 1 << 20;

  private static final byte[] NOTHING = {};

  /** Code of the user that is called while the load is between two steps. */
  private static final String LISTENER = "the listener of a load";

  private static final String STREAM = "the stream of an unsorted value";

  private final Transaction transaction;
  private final Table table;
  private final BulkLoadOptions options;
  private final RowWriter writer;

  /** The loader of each tree that has received rows. */
  private final Map<Tree, RowLoader> loaders = new LinkedHashMap<>();

  /** The loader that a conflict has stopped, after the wait for it has ended. */
  private @Nullable RowLoader held;

  /** The loader that took the previous row: its last key is the last of all. */
  private @Nullable RowLoader last;

  /** Whether all rows go to the loader of the previous row. */
  private boolean hasOneTree;

  /** Rows that were stored, or are on a page in memory. */
  private long rows;

  /** The rows that came unsorted; null if there are none. */
  private @Nullable UnsortedRows unsorted;

  private long unsortedRows;

  /** Whether unsorted rows are being stored, so that no more can come. */
  private boolean isStoring;

  /** Who is called, and must not use the load until it returns; null if nobody is. */
  private @Nullable String called;

  /** Bytes in temporary files so far. */
  private long sortBytes;

  BulkLoad(Transaction transaction, Table table, BulkLoadOptions options) {
    this.transaction = transaction;
    this.table = table;
    this.options = options;
    this.writer = transaction.inside(() -> transaction.core().writer(table));
  }

  /**
   * Adds a row. Both arrays may be used again afterwards.
   *
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes, above the key before, as unsigned bytes
   * @param value at most {@link Database#MAX_VALUE_BYTES} bytes
   * @throws LimitException with {@link LimitException.Reason#KEY_ORDER} if the key is not above the
   *     one before; the load goes on without this row
   * @throws ConflictException if another transaction wrote the row, or one of those before it,
   *     first; the load has been given up
   * @throws IllegalStateException if the load has unsorted rows; the load goes on without this row
   */
  public void add(byte[] key, byte[] value) {
    Transaction.checkKey(key);
    Objects.requireNonNull(value, "value must not be null");
    demandSorted();
    try {
      StreamedValue.checkLength(transaction.core().engine().maxValueBytes, value.length);
      store(key, value);
      report(BulkLoadProgress.Phase.ADDING, rows);
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /**
   * Adds a row whose value comes from a stream, which is read to its end and not closed.
   *
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes, above the key before, as unsigned bytes
   * @param value at most {@link Database#MAX_VALUE_BYTES} bytes
   * @throws LimitException with {@link LimitException.Reason#KEY_ORDER} if the key is not above the
   *     one before; the load goes on without this row
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if the stream does not
   *     end in time; the load goes on
   * @throws IOException if the stream throws; the load goes on without this row
   * @throws ConflictException if another transaction wrote the row, or one of those before it,
   *     first; the load has been given up
   * @throws IllegalStateException if the load has unsorted rows; the load goes on without this row
   */
  public void add(byte[] key, InputStream value) throws IOException {
    Transaction.checkKey(key);
    Objects.requireNonNull(value, "value must not be null");
    demandSorted();
    StreamedValue.demandShort(transaction.engine(), value);
    byte[] chunk = value.readNBytes(OverflowWriter.CHUNK);
    if (chunk.length < OverflowWriter.CHUNK) {
      add(key, chunk);
      return;
    }
    store(key, chunk, value);
    try {
      report(BulkLoadProgress.Phase.ADDING, rows);
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  private void demandSorted() {
    demandNotCalled();
    if (unsorted != null) {
      throw refused(
          "this load has unsorted rows: add all rows with addUnsorted, or the sorted ones in a load of their own");
    }
  }

  /** A call at the wrong time; but the end of the transaction is reported first. */
  private Misuse.OfState refused(String message) {
    try {
      transaction.inside(() -> NOTHING);
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
    return new Misuse.OfState(message);
  }

  /**
   * Adds a row to a load whose rows come in any order. Both arrays may be used again afterwards.
   *
   * <p>The load stores its rows with {@link #finish}. If a key is added more than once, the last
   * row counts, as with {@link Transaction#put}. A row that the table has already is replaced.
   *
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @param value at most {@link Database#MAX_VALUE_BYTES} bytes
   * @throws StorageException if a temporary file cannot be written, for example because the disk is
   *     full; the load has been given up
   * @throws IllegalStateException if the load has sorted rows, or {@link #finish} was called
   */
  public void addUnsorted(byte[] key, byte[] value) {
    Transaction.checkKey(key);
    Objects.requireNonNull(value, "value must not be null");
    demandUnsorted();
    try {
      StreamedValue.checkLength(transaction.core().engine().maxValueBytes, value.length);
      gather(key, value);
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /**
   * Adds a row to a load whose rows come in any order. Its value comes from a stream, which is read
   * to its end and not closed. The stream must not use the load.
   *
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @param value at most {@link Database#MAX_VALUE_BYTES} bytes
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if the stream does not
   *     end in time; the load goes on
   * @throws IOException if the stream throws; the load goes on without this row
   * @throws StorageException if a temporary file cannot be written; the load has been given up
   * @throws IllegalStateException if the load has sorted rows, or {@link #finish} was called
   */
  public void addUnsorted(byte[] key, InputStream value) throws IOException {
    Transaction.checkKey(key);
    Objects.requireNonNull(value, "value must not be null");
    demandUnsorted();
    StreamedValue.demandShort(transaction.engine(), value);
    byte[] chunk = firstChunk(value);
    if (chunk.length < OverflowWriter.CHUNK) {
      addUnsorted(key, chunk);
      return;
    }
    try {
      gather(key, chunk, value);
    } catch (IOException ofStream) {
      if (ofStream instanceof UnsortedRows.StreamFailure
          && ofStream.getCause() instanceof RuntimeException unchecked) {
        throw unchecked;
      }
      throw ofStream;
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  private byte[] firstChunk(InputStream value) throws IOException {
    called = STREAM;
    try {
      return value.readNBytes(OverflowWriter.CHUNK);
    } finally {
      called = null;
    }
  }

  private void demandNotCalled() {
    String caller = called;
    if (caller != null) {
      throw new Misuse.OfState(caller + " must not use the load");
    }
  }

  private void demandUnsorted() {
    demandNotCalled();
    if (isStoring) {
      throw refused("finish was called, and the load takes no more rows: begin another load");
    }
    if (unsorted == null && rows > 0) {
      throw refused(
          "this load has sorted rows: add all rows with add, or the unsorted ones in a load of their own");
    }
  }

  private void gather(byte[] key, byte[] value) {
    try {
      UnsortedRows gathered = gathered();
      boolean isAdded = aloneHere(() -> gathered.addToMemory(key, value));
      if (!isAdded) {
        transaction.inside(() -> gathered); // demands that it is open
        gathered.add(key, value);
      }
      unsortedRows++;
      report(BulkLoadProgress.Phase.ADDING, unsortedRows);
    } catch (Throwable failure) {
      giveUpAfter(failure);
      throw failure;
    }
  }

  private void gather(byte[] key, byte[] first, InputStream rest) throws IOException {
    try {
      UnsortedRows gathered = gathered();
      transaction.inside(() -> gathered); // demands that it is open
      called = STREAM; // between the pieces of a value, which are written one behind the other
      try {
        gathered.add(key, first, rest);
      } finally {
        called = null;
      }
      unsortedRows++;
      report(BulkLoadProgress.Phase.ADDING, unsortedRows);
    } catch (RuntimeException | Error failure) {
      giveUpAfter(failure);
      throw failure;
    }
  }

  private UnsortedRows gathered() {
    UnsortedRows there = unsorted;
    if (there == null) {
      there =
          new UnsortedRows(
              transaction,
              writer,
              options.sortMemory(),
              (bytes, isMerge) -> {
                sortBytes += bytes;
                tell(isMerge ? BulkLoadProgress.Phase.MERGING : BulkLoadProgress.Phase.ADDING);
              });
      unsorted = there;
    }
    return there;
  }

  /** Stores the unsorted rows: from now on the load takes no more. */
  private void storeUnsorted(UnsortedRows gathered) {
    if (isStoring) {
      throw refused(
          "finish was called before and has not ended well: close the load and begin another");
    }
    try {
      transaction.inside(() -> gathered); // demands that it is open
      isStoring = true;
      SortedChanges sorted = gathered.sorted();
      byte[] key = NOTHING;
      byte[] value = NOTHING;
      while (sorted.next()) {
        key = sorted.key(key);
        if (!sorted.isBeside()) {
          value = sorted.value(value);
          store(key, value);
        } else {
          storeLarge(key, gathered.valueOf(sorted), sorted.lengthBeside());
        }
        report(BulkLoadProgress.Phase.STORING, rows);
      }
      transaction.inside(() -> {
        gathered.deleteFiles();
        return gathered;
      });
    } catch (Throwable failure) {
      giveUpAfter(failure);
      throw failure;
    }
  }

  private void storeLarge(byte[] key, InputStream value, long length) {
    try {
      if (length <= LARGEST_ARRAY) {
        store(key, value.readNBytes((int) length));
      } else {
        store(key, value.readNBytes(OverflowWriter.CHUNK), value);
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** Tells the listener from time to time. */
  private void report(BulkLoadProgress.Phase phase, long count) {
    if (count % REPORTED == 0) {
      try {
        tell(phase);
      } catch (RuntimeException cancelled) {
        giveUpAfter(cancelled);
        throw cancelled;
      }
    }
  }

  private void tell(BulkLoadProgress.Phase phase) {
    boolean goesOn;
    String before = called;
    called = LISTENER;
    try {
      goesOn = options.listener().test(new BulkLoadProgress(phase, rows(), rows, sortBytes));
    } catch (RuntimeException ofListener) {
      throw cancelled(ofListener);
    } finally {
      called = before;
    }
    if (!goesOn) {
      throw cancelled(/* cause= */ null);
    }
  }

  private Misuse.OfCancellation cancelled(@Nullable Throwable cause) {
    return new Misuse.OfCancellation(
        "the load of table " + table.name() + " was cancelled by its listener", cause);
  }

  private void store(byte[] key, byte[] value) {
    if (!addToRun(key, value)) {
      addOrWait(key, loader -> loader.add(key, value));
    }
  }

  private void store(byte[] key, byte[] chunk, InputStream value) throws IOException {
    OverflowWriter written =
        StreamedValue.write(
            transaction.engine(),
            chunk,
            value,
            () -> {
              demandAscending(key);
              return loader(key).beginValue();
            },
            this::toldStep);
    addStreamed(key, written);
  }

  /** Runs a step. The caller receives its failure. */
  private <T extends @Nullable Object> T toldStep(Supplier<T> action) {
    try {
      return step(action);
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  private void addStreamed(byte[] key, OverflowWriter written) {
    try {
      addOrWait(key, loader -> loader.add(key, written)); // the code behind the stream may add rows
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /** Most rows go to a page in memory, and meet nothing. */
  private boolean addToRun(byte[] key, byte[] value) {
    RowLoader loader = last;
    if (loader == null || held != null || !hasOneTree) {
      return false;
    }
    try {
      if (!aloneHere(() -> loader.addToRun(key, value))) {
        return false;
      }
    } catch (Throwable failure) {
      giveUpAfter(failure);
      throw failure;
    }
    rows++;
    return true;
  }

  /** As {@link TransactionCore#alone}. */
  private boolean aloneHere(BooleanSupplier step) {
    try {
      return transaction
          .core()
          .alone(() -> {
            writer.holds().useHere(); // a thread that waits for the table waits for this one
            return step.getAsBoolean();
          });
    } finally {
      Reference.reachabilityFence(transaction);
    }
  }

  private void addOrWait(byte[] key, Function<RowLoader, RowWriter.Outcome> add) {
    write(() -> {
      RowLoader stopped = held;
      if (stopped != null) {
        return taken(stopped, stopped.resume());
      }
      demandAscending(key);
      RowLoader loader = loader(key);
      return taken(loader, add.apply(loader));
    });
  }

  private RowWriter.Outcome taken(RowLoader loader, RowWriter.Outcome outcome) {
    boolean isConflict = outcome == RowWriter.Outcome.CONFLICT;
    held = isConflict && loader.isHeldUp() ? loader : null;
    if (!isConflict) {
      last = loader;
      rows++;
    }
    return outcome;
  }

  /** Like {@link #step}, for steps that write rows and may have to wait for one. */
  private void write(Supplier<RowWriter.Outcome> action) {
    try {
      transaction.write(table, null, _ -> action.get(), TransactionCore.NOTHING_READ);
    } catch (Throwable failure) {
      giveUpAfter(failure);
      throw failure;
    }
  }

  private RowLoader loader(byte[] key) {
    TransactionCore core = transaction.core();
    TableTrees trees = core.trees(table);
    hasOneTree = trees.all().size() == 1;
    Tree home = trees.of(key);
    RowLoader loader = loaders.get(home);
    if (loader == null) {
      loader = new RowLoader(core.engine().storage(), home, writer, core.id(), core.snapshot());
      loaders.put(home, loader);
    }
    return loader;
  }

  private void demandAscending(byte[] key) {
    RowLoader before = last;
    if (before != null && !before.isAscending(key)) {
      throw new LimitException(
          LimitException.Reason.KEY_ORDER,
          "the keys of a bulk load have to be in ascending order, and each may come once; this one is not above the"
              + " one before it: sort the rows, add them with addUnsorted, or use put");
    }
  }

  /**
   * Runs a step in the transaction. After a failure that may have left half of a step, no further
   * step runs.
   */
  private <T extends @Nullable Object> T step(Supplier<T> action) {
    try {
      return transaction.inside(action);
    } catch (Throwable failure) {
      giveUpAfter(failure);
      throw failure;
    }
  }

  /**
   * Commits: all rows become visible. Returns when the commit is durable, or at once if the load is
   * lazy.
   *
   * @throws ConflictException if another transaction wrote one of the rows first; the load has been
   *     rolled back
   * @throws OutcomeUnknownException if the log failed meanwhile
   * @throws StorageException if the rows cannot be stored or a temporary file cannot be used; the
   *     load has been given up
   */
  public void finish() {
    demandNotCalled();
    try {
      UnsortedRows gathered = unsorted;
      if (gathered != null) {
        storeUnsorted(gathered);
      }
      write(() -> {
        for (RowLoader loader : loaders.values()) {
          RowWriter.Outcome outcome = loader.isHeldUp() ? loader.resume() : loader.finish();
          if (outcome == RowWriter.Outcome.CONFLICT) {
            return outcome;
          }
        }
        return RowWriter.Outcome.DONE;
      });
      tellEnd();
      Engine engine = transaction.core().engine();
      try {
        transaction.commit();
      } finally {
        engine.storage().marks().longEnded(); // its pages wait for it
        engine.pokeCleaner();
      }
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  private void tellEnd() {
    try {
      tell(unsorted == null ? BulkLoadProgress.Phase.ADDING : BulkLoadProgress.Phase.STORING);
    } catch (RuntimeException cancelled) {
      giveUpAfter(cancelled);
      throw cancelled;
    }
  }

  /** A refused row, or a call at the wrong time, has changed nothing. */
  private void giveUpAfter(Throwable failure) {
    boolean isHarmless =
        switch (failure) {
          case LimitException limit ->
              limit.reason() == LimitException.Reason.KEY_LENGTH
                  || limit.reason() == LimitException.Reason.KEY_ORDER;
          case TransactionStateException state ->
              state.reason() != TransactionStateException.Reason.READ_ONLY
                  && state.reason() != TransactionStateException.Reason.NOT_PREPARABLE;
          case DatabaseClosedException closed -> true;
          default -> false;
        };
    if (isHarmless) {
      return;
    }
    try {
      transaction.rollback();
    } catch (RuntimeException second) {
      failure.addSuppressed(second);
    }
  }

  /**
   * Returns how many rows were added.
   *
   * @return the number; a key that was added twice counts twice
   */
  public long rows() {
    return unsorted == null ? rows : unsortedRows;
  }

  /**
   * Returns how many leaf pages were appended as a whole. It is close to 0 if the keys are not
   * above those in the table. Pages that are still being filled do not count.
   *
   * @return the number
   */
  public long pages() {
    try {
      return loaders.values().stream().mapToLong(RowLoader::pages).sum();
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /** Rolls the load back in constant time, unless it was finished. */
  @Override
  public void close() {
    transaction.close();
  }

  /** Table and number of rows, for messages and debuggers. */
  @Override
  public String toString() {
    return "BulkLoad[" + table + ", " + rows() + " rows so far]";
  }
}
