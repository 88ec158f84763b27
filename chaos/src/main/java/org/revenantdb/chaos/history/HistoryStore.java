package org.revenantdb.chaos.history;

import java.nio.file.Path;
import java.util.SortedMap;
import org.revenantdb.history.Access;

/**
 * A transactional store as the workload uses it: numbered lists and registers. Even keys are lists,
 * odd ones registers.
 *
 * <p>Threads: any; a transaction belongs to one.
 */
public interface HistoryStore extends AutoCloseable {

  /**
   * Opens a store. For stores in killed processes it is a public class with a constructor without
   * parameters.
   */
  @FunctionalInterface
  interface Opener {
    /**
     * Opens the store. Creates it if the directory is empty, recovers it otherwise.
     *
     * @param directory for its files
     * @return the open store
     * @throws Exception if opening fails; after a crash this is a finding
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
   * Begins a transaction that will write nothing, for stores that treat it differently. By default
   * the same as {@link #begin}.
   *
   * @param lazy as for {@link #begin}
   * @return the transaction
   */
  default Tx beginToRead(boolean lazy) {
    return begin(lazy);
  }

  /** Makes lazy commits durable. */
  void sync();

  /**
   * Work of the store apart from its clients, now and then: a checkpoint, cleaning. By default
   * nothing.
   */
  default void housekeeping() {}

  /** Closes the store in order. */
  @Override
  void close();

  /** A transaction. Closing it without a commit rolls it back. */
  interface Tx extends AutoCloseable {

    /**
     * Reads a list.
     *
     * @param key even
     * @return the whole list; empty if it has no values
     */
    int[] readList(int key);

    /**
     * Reads a register.
     *
     * @param key odd
     * @return its value, {@link Access#NIL} if it was never written
     */
    int readRegister(int key);

    /**
     * Reads all lists of a range of keys.
     *
     * @param from the first key
     * @param to the key behind the last one
     * @return the lists with values
     */
    SortedMap<Integer, int[]> readLists(int from, int to);

    /**
     * Reads all registers of a range of keys.
     *
     * @param from the first key
     * @param to the key behind the last one
     * @return the registers that were written, with their values
     */
    SortedMap<Integer, Integer> readRegisters(int from, int to);

    /**
     * Appends to a list.
     *
     * @param key even
     * @param value the value to append
     * @throws RefusedException if the transaction conflicts with another one
     */
    void append(int key, int value);

    /**
     * Writes a register.
     *
     * @param key odd
     * @param value the new value
     * @throws RefusedException if the transaction conflicts with another one
     */
    void write(int key, int value);

    /**
     * Commits.
     *
     * @throws RefusedException if the transaction conflicts with another one; it is rolled back
     */
    void commit();

    @Override
    void close();
  }

  /** The transaction conflicts with another one and can only be rolled back. */
  final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param cause the exception of the store
     */
    public RefusedException(Throwable cause) {
      super(cause);
    }
  }
}
