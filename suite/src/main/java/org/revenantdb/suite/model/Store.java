package org.revenantdb.suite.model;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The store interface of the model: tables of ordered keys, transactions under snapshot isolation
 * with first-updater-wins, durable when {@link Tx#commit} has returned.
 *
 * <p>RevenantDB is one implementation ({@link RevenantStore}). The model's own tests have others,
 * broken on purpose, to prove that the model detects it.
 */
public interface Store extends AutoCloseable {

  /**
   * Opens a store. Implementations are public and have a public constructor without parameters,
   * because a child creates one.
   */
  interface Opener {

    /**
     * Opens the store in the directory, or creates it.
     *
     * @param dir the directory
     * @param limits the size limits
     * @return the open store
     */
    Store open(Path dir, Limits limits);
  }

  /**
   * The size limits of a store, small so that rare events happen often.
   *
   * @param poolBytes memory for its pages
   * @param logBytes log that a restart may have to read
   */
  record Limits(long poolBytes, long logBytes) {

    private static final long LEAST_POOL = 2 << 20;
    private static final long LEAST_LOG = 4 << 20;
    private static final long MOST_LOG = 16 << 20;

    /** Draws limits; the pool is at most the given one. */
    static Limits draw(RandomGenerator random, long mostPool) {
      return new Limits(
          random.nextLong(LEAST_POOL, Math.max(LEAST_POOL, mostPool) + 1),
          random.nextLong(LEAST_LOG, MOST_LOG + 1));
    }

    /** Parses two arguments of a child. */
    public static Limits of(String poolBytes, String logBytes) {
      return new Limits(Long.parseLong(poolBytes), Long.parseLong(logBytes));
    }
  }

  /**
   * A change was refused because of another transaction. The transaction can be repeated from its
   * beginning.
   */
  final class ConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param cause the exception of the store
     */
    public ConflictException(@Nullable Throwable cause) {
      super(cause);
    }
  }

  /** A transaction. */
  interface Tx extends AutoCloseable {

    /** Reads a whole value, null if there is none. */
    byte @Nullable [] get(String table, byte[] key);

    /** Opens a value, null if there is none. */
    @Nullable InputStream open(String table, byte[] key);

    /** Writes a value. */
    void put(String table, byte[] key, byte[] value);

    /** Writes a value from a stream. */
    void put(String table, byte[] key, InputStream value) throws IOException;

    /** Removes a row; returns whether it existed. */
    boolean delete(String table, byte[] key);

    /** Scans rows, {@code from} included, {@code to} excluded; null is no bound. */
    Rows scan(String table, byte @Nullable [] from, byte @Nullable [] to, boolean descending);

    /** Commits; returns when that is durable. */
    void commit();

    /**
     * Commits in two phases, with a crash in between that leaves the decision to the next life.
     * Commits in one phase if the store has no others.
     */
    default void commitInTwoPhases() {
      commit();
    }

    /**
     * Creates a table as part of the transaction, if it does not exist. Does nothing if the store
     * cannot. May be refused because of another transaction, like a put.
     */
    default void makeTable(String table) {}

    /** Sets a savepoint; the result rolls back to it. Null if the store has none. */
    default @Nullable Runnable savepoint() {
      return null;
    }

    /** Rolls back. */
    void rollback();

    @Override
    void close();
  }

  /** Rows of a scan. */
  interface Rows extends AutoCloseable {

    /** Goes to the next row; false at the end. */
    boolean next();

    /** The row's key. */
    byte[] key();

    /** The row's value. */
    byte[] value();

    /** The value as a stream. */
    InputStream openValue();

    @Override
    void close();
  }

  /**
   * The work of a recovery.
   *
   * @param clean whether the store had been closed in order
   * @param nanos until the store was open
   * @param logBytes log that was read
   * @param pages pages that were read
   */
  record Recovery(boolean clean, long nanos, long logBytes, long pages) {}

  /**
   * Events that must have occurred for the run to be meaningful.
   *
   * @param splits of pages
   * @param merges of pages
   * @param evictions of frames
   * @param overflowValues values that did not fit into a leaf
   * @param checkpoints taken
   */
  record Counters(long splits, long merges, long evictions, long overflowValues, long checkpoints) {

    static final Counters NONE = new Counters(0, 0, 0, 0, 0);

    Counters plus(Counters other) {
      return new Counters(
          splits + other.splits,
          merges + other.merges,
          evictions + other.evictions,
          overflowValues + other.overflowValues,
          checkpoints + other.checkpoints);
    }
  }

  /**
   * The result of a structural check.
   *
   * @param problems one sentence each; for instance a page in use that belongs to nothing
   * @param pagesToClean the number of pages with old content
   */
  record Check(List<String> problems, long pagesToClean) {}

  /** Begins a transaction. */
  Tx begin();

  /** The work of the opening. */
  Recovery recovery();

  /** The events since the opening. */
  Counters counters();

  /** Checks the structure of the open store. */
  Check check();

  /** Takes a checkpoint now. */
  void checkpoint();

  /** Cleans as far as possible. */
  void clean();

  @Override
  void close();
}
