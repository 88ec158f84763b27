package org.revenantdb.chaos.subject;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Whom a subject tells what it tries and what its store promised.
 *
 * <p>Keys and values are texts or bytes (a text is its UTF-8 bytes); a null value means that the
 * key is removed. Give each write a value of its own: only then can the oracle tell which write it
 * sees.
 *
 * <p>For one write with one promise {@link #durable(String, String)} after it is enough. What was
 * written is then taken to have been attempted at any time since its life began, so a crash before
 * the promise may leave it or not, and it is known to follow only what the same thread was promised
 * of the same key. Whoever announces a write by {@link #attempt(String, String)} or {@link
 * #begin()} with {@link Group#committing()} gets a stricter oracle (phantoms, removals, lazy
 * commits, process death).
 *
 * <p>Threads: any; a {@link Group} belongs to one thread at a time. Failure: none.
 */
public interface Promises {

  /**
   * The seed of this life, for work that should differ from life to life and repeat exactly.
   *
   * @return the seed
   */
  long seed();

  /**
   * A generator with that seed; each call gives a new one that starts anew.
   *
   * @return the generator
   */
  RandomGenerator random();

  /**
   * Says that a write is about to be made.
   *
   * @param key which key
   * @param value what it becomes; null: removed
   */
  void attempt(String key, @Nullable String value);

  /**
   * Says that a write is about to be made.
   *
   * @param key which key
   * @param value what it becomes; null: removed
   */
  void attempt(byte[] key, byte @Nullable [] value);

  /**
   * Says that the store promised a write to be durable.
   *
   * @param key which key
   * @param value what it became; null: removed
   */
  void durable(String key, @Nullable String value);

  /**
   * Says that the store promised a write to be durable.
   *
   * @param key which key
   * @param value what it became; null: removed
   */
  void durable(byte[] key, byte @Nullable [] value);

  /**
   * Says that the store accepted a write, visible but not yet durable (a lazy commit). After a
   * crash such writes are there as a prefix in the order in which they were accepted.
   *
   * @param key which key
   * @param value what it became; null: removed
   */
  void lazy(String key, @Nullable String value);

  /**
   * Says that the store accepted a write, visible but not yet durable.
   *
   * @param key which key
   * @param value what it became; null: removed
   */
  void lazy(byte[] key, byte @Nullable [] value);

  /**
   * Says that a flush has ended, which had begun behind this thread's last word: what had been
   * accepted lazily by then is durable now.
   */
  void allDurable();

  /**
   * Says what a durable reader was given: from now on the write that it saw must survive (the
   * witness of durable readers). It began to read behind this thread's last word that was no such
   * reading: several may speak of one snapshot.
   *
   * @param key which key
   * @param value what it was given; null: nothing
   */
  void durableRead(String key, @Nullable String value);

  /**
   * Says what a durable reader was given.
   *
   * @param key which key
   * @param value what it was given; null: nothing
   */
  void durableRead(byte[] key, byte @Nullable [] value);

  /**
   * Begins to announce writes that are there together or not at all (a transaction).
   *
   * @return the group
   */
  Group begin();

  /** Writes that are there together or not at all. */
  interface Group {

    /**
     * Adds a write; a later one of the same key replaces it.
     *
     * @param key which key
     * @param value what it becomes; null: removed
     * @return this
     */
    Group put(String key, @Nullable String value);

    /**
     * Adds a write; a later one of the same key replaces it.
     *
     * @param key which key
     * @param value what it becomes; null: removed
     * @return this
     */
    Group put(byte[] key, byte @Nullable [] value);

    /**
     * Says that the commit is about to be asked for. Before that the group must not be there after
     * any crash.
     *
     * @return this
     */
    Group committing();

    /** Says that the commit was promised to be durable. */
    void durable();

    /** Says that the commit was accepted, visible but not yet durable. */
    void lazy();

    /** Says that the group was taken back: it must not be there after any crash. */
    void rolledBack();
  }
}
