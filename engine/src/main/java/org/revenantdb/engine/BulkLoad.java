package org.revenantdb.engine;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.Reference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.TableTrees;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.StreamedValue;
import org.revenantdb.engine.session.TransactionCore;
import org.revenantdb.engine.version.RowLoader;
import org.revenantdb.engine.version.RowWriter;

/**
 * Stores many rows in ascending order of their keys, at the speed of writing full pages. All rows
 * become visible together with {@link #finish}.
 *
 * <p>The load is fast while its keys are above all keys of the table, for example in an empty
 * table. Other rows are stored one by one, as {@link Transaction#put} does. Other transactions can
 * read and write the table during the load. A load is a transaction of any size. It is {@link
 * Durability#DURABLE} unless its options say otherwise.
 *
 * <p>The load gathers rows in up to eight pages of memory, and takes 18 KB of the heap for each of
 * these. In a table with partitions, it does so for each partition.
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
  private final Transaction transaction;
  private final Table table;
  private final RowWriter writer;

  /** The loader of each tree that has received rows. */
  private final Map<Tree, RowLoader> loaders = new LinkedHashMap<>();

  /** The loader that a conflict has stopped, after the wait for it has ended. */
  private @Nullable RowLoader held;

  /** The loader that took the previous row: its last key is the last of all. */
  private @Nullable RowLoader last;

  /** Whether all rows go to the loader of the previous row. */
  private boolean hasOneTree;

  private long rows;

  BulkLoad(Transaction transaction, Table table) {
    this.transaction = transaction;
    this.table = table;
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
   */
  public void add(byte[] key, byte[] value) {
    Transaction.checkKey(key);
    Objects.requireNonNull(value, "value must not be null");
    try {
      StreamedValue.checkLength(transaction.core().engine().maxValueBytes, value.length);
      if (!addToRun(key, value)) {
        addOrWait(key, loader -> loader.add(key, value));
      }
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
   */
  public void add(byte[] key, InputStream value) throws IOException {
    Transaction.checkKey(key);
    Objects.requireNonNull(value, "value must not be null");
    StreamedValue.demandShort(transaction.engine(), value);
    byte[] chunk = value.readNBytes(OverflowWriter.CHUNK);
    if (chunk.length < OverflowWriter.CHUNK) {
      add(key, chunk);
      return;
    }
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
      boolean isAdded =
          transaction
              .core()
              .alone(() -> {
                writer.holds().useHere(); // a thread that waits for the table waits for this one
                return loader.addToRun(key, value);
              });
      if (!isAdded) {
        return false;
      }
    } catch (Throwable failure) {
      giveUpAfter(failure);
      throw failure;
    } finally {
      Reference.reachabilityFence(transaction);
    }
    rows++;
    return true;
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
              + " one before it: sort the rows, or use put");
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
   */
  public void finish() {
    try {
      write(() -> {
        for (RowLoader loader : loaders.values()) {
          RowWriter.Outcome outcome = loader.isHeldUp() ? loader.resume() : loader.finish();
          if (outcome == RowWriter.Outcome.CONFLICT) {
            return outcome;
          }
        }
        return RowWriter.Outcome.DONE;
      });
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
   * @return the number
   */
  public long rows() {
    return rows;
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
    return "BulkLoad[" + table + ", " + rows + " rows so far]";
  }
}
