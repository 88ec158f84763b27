package org.revenantdb.chaos.history;

import java.nio.file.Path;
import java.util.SortedMap;

/**
 * A transactional store as the workload sees it: lists and registers under numbers. Even keys are
 * lists, odd ones registers.
 *
 * <p>Threads: any; a transaction belongs to one.
 */
public interface HistoryStore extends AutoCloseable {

  /**
   * Opens a store. One that is to be killed is a public class with a constructor without
   * parameters.
   */
  @FunctionalInterface
  interface Opener {
    /**
     * Opens the store, creating it if nothing is there and recovering it if there is something.
     *
     * @param directory of its files
     * @return the open store
     * @throws Exception if that fails; on what a crash left that is a finding
     */
    HistoryStore open(Path directory) throws Exception;
  }

  /**
   * Begins a transaction.
   *
   * @param lazy whether a crash may take it back after its commit
   * @return the transaction
   */
  Tx begin(boolean lazy);

  /**
   * Begins a transaction that says that it will write nothing, for stores that make something of
   * that. By default one as any other.
   *
   * @param lazy as {@link #begin}
   * @return the transaction
   */
  default Tx beginToRead(boolean lazy) {
    return begin(lazy);
  }

  /** Makes durable what was committed lazily. */
  void sync();

  /**
   * What a store does beside its clients now and then: a checkpoint, cleaning. By default nothing.
   */
  default void housekeeping() {}

  /** Closes the store in order. */
  @Override
  void close();

  /** A transaction; what is closed without a commit is rolled back. */
  interface Tx extends AutoCloseable {

    /**
     * Reads a list.
     *
     * @param key even
     * @return all of it; empty if nobody has appended to it
     */
    int[] readList(int key);

    /**
     * Reads a register.
     *
     * @param key odd
     * @return what it holds, {@link Access#NIL} if nobody has written it
     */
    int readRegister(int key);

    /**
     * Reads all lists of a range of keys.
     *
     * @param from the first key
     * @param to behind the last key
     * @return those that somebody has appended to
     */
    SortedMap<Integer, int[]> readLists(int from, int to);

    /**
     * Reads all registers of a range of keys.
     *
     * @param from the first key
     * @param to behind the last key
     * @return those that somebody has written, and what they hold
     */
    SortedMap<Integer, Integer> readRegisters(int from, int to);

    /**
     * Appends to a list.
     *
     * @param key even
     * @param value what is appended
     * @throws RefusedException if another transaction was first
     */
    void append(int key, int value);

    /**
     * Writes a register.
     *
     * @param key odd
     * @param value what it holds then
     * @throws RefusedException if another transaction was first
     */
    void write(int key, int value);

    /**
     * Commits.
     *
     * @throws RefusedException if another transaction was first: this one is rolled back
     */
    void commit();

    @Override
    void close();
  }

  /** Another transaction was first: this one can only be rolled back. */
  final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param cause what the store said
     */
    public RefusedException(Throwable cause) {
      super(cause);
    }
  }
}
