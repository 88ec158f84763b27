package org.revenantdb.history;

import java.util.SortedMap;

/**
 * Receives the operations of a client and their answers, one transaction at a time. If no
 * transaction has begun, calls other than {@link #begin}, {@link #flushing} and {@link #flushed}
 * throw {@link IllegalStateException}.
 *
 * <p>A write is reported <em>before</em> it is made, and an answer after it was given. So the store
 * never contains a write that was not reported.
 *
 * <p>Threads: one, that of the client.
 */
public interface HistorySession {

  /**
   * A transaction is about to begin.
   *
   * @throws IllegalStateException if the one before has not ended
   */
  void begin();

  /**
   * A value is about to be appended.
   *
   * @param key of the list
   * @param value never appended to it before
   */
  void appending(int key, int value);

  /**
   * A value is about to be written.
   *
   * @param key of the register
   * @param value never written to it before
   */
  void writing(int key, int value);

  /**
   * A list was read.
   *
   * @param key of the list
   * @param values what it holds
   */
  void readList(int key, int[] values);

  /**
   * A register was read.
   *
   * @param key of the register
   * @param value what it holds, or {@link Access#NIL}
   */
  void readRegister(int key, int value);

  /**
   * All lists of a range were read.
   *
   * @param from the first key
   * @param to behind the last key
   * @param found those that are there
   * @throws IllegalArgumentException if one of them is not in the range
   */
  void readLists(int from, int to, SortedMap<Integer, int[]> found);

  /**
   * All registers of a range were read.
   *
   * @param from the first key
   * @param to behind the last key
   * @param found those that are there, and what they hold
   * @throws IllegalArgumentException if one of them is not in the range
   */
  void readRegisters(int from, int to, SortedMap<Integer, Integer> found);

  /** The transaction is about to request its commit. */
  void committing();

  /**
   * The transaction has ended.
   *
   * @param outcome what the client knows about it
   */
  void ended(TransactionOutcome outcome);

  /** The client is about to request a flush of lazy commits. */
  void flushing();

  /** That flush has returned. */
  void flushed();
}
