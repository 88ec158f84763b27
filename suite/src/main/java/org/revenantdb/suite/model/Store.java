package org.revenantdb.suite.model;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What the model asks of a store: tables of ordered keys, transactions under snapshot isolation
 * with first-updater-wins, durable when {@link Tx#commit} has returned.
 *
 * <p>RevenantDB is one ({@link RevenantStore}); the model's own tests have others, broken on
 * purpose, to prove that it would notice.
 */
public interface Store extends AutoCloseable {

  /**
   * Opens a store. Implementations are public and have a public constructor without parameters: a
   * child makes one.
   */
  interface Opener {

    /**
     * Opens the store in the directory, or creates it.
     *
     * @param dir where
     * @param limits how small it is to make itself
     * @return the open store
     */
    Store open(Path dir, Limits limits);
  }

  /**
   * How small a store is to make itself, so that what is rare in large ones happens often.
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

    /** Reads two arguments of a child. */
    public static Limits of(String poolBytes, String logBytes) {
      return new Limits(Long.parseLong(poolBytes), Long.parseLong(logBytes));
    }
  }

  /**
   * A transaction was refused a change because of another one. It can be tried again from its
   * beginning.
   */
  final class ConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param cause what the store threw
     */
    public ConflictException(@Nullable Throwable cause) {
      super(cause);
    }
  }

  /** A transaction. */
  interface Tx extends AutoCloseable {

    /** Reads a value whole, null if there is none. */
    byte @Nullable [] get(String table, byte[] key);

    /** Opens a value, null if there is none. */
    @Nullable InputStream open(String table, byte[] key);

    /** Writes a value. */
    void put(String table, byte[] key, byte[] value);

    /** Writes a value from a stream. */
    void put(String table, byte[] key, InputStream value) throws IOException;

    /** Removes a row; says whether there was one. */
    boolean delete(String table, byte[] key);

    /** Walks over rows, {@code from} included, {@code to} excluded; null is no bound. */
    Rows scan(String table, byte @Nullable [] from, byte @Nullable [] to, boolean descending);

    /** Commits; returns when that is durable. */
    void commit();

    /**
     * The same in two phases, with a crash in between that leaves the decision to the next life; in
     * one where the store knows no others.
     */
    default void commitInTwoPhases() {
      commit();
    }

    /**
     * Makes a table, if it is not there, as part of the transaction; where the store cannot,
     * nothing happens. May be refused because of another transaction, as a put may.
     */
    default void makeTable(String table) {}

    /**
     * Sets a savepoint; what is returned takes back what was written since. Null where the store
     * has none.
     */
    default @Nullable Runnable savepoint() {
      return null;
    }

    /** Takes everything back. */
    void rollback();

    @Override
    void close();
  }

  /** Rows on a walk. */
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
   * What recovery had to do.
   *
   * @param clean whether the store had been closed in order
   * @param nanos until the store was open
   * @param logBytes log that was read
   * @param pages pages that were read
   */
  record Recovery(boolean clean, long nanos, long logBytes, long pages) {}

  /**
   * Things that must have happened for the run to mean something.
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
   * What a structural check found.
   *
   * @param problems each in a sentence; a page that is taken and belongs to nothing is one
   * @param pagesToClean pages on which something of the past is left
   */
  record Check(List<String> problems, long pagesToClean) {}

  /** Begins a transaction. */
  Tx begin();

  /** What the opening had to do. */
  Recovery recovery();

  /** What has happened since the opening. */
  Counters counters();

  /** Checks the structure of the open store. */
  Check check();

  /** Takes a checkpoint now. */
  void checkpoint();

  /** Cleans until nothing is left that can be cleaned. */
  void clean();

  @Override
  void close();
}
