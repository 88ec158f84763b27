package org.revenantdb.chaos.subject;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Receives what a subject attempts and what its store promises.
 *
 * <p>Keys and values are texts or bytes (a text is its UTF-8 bytes); a null value means that the
 * key is removed. Give each write a value of its own. Only then can the oracle determine which
 * write it sees.
 *
 * <p>For a single write with a single promise, one call of {@link #durable(String, String)} after
 * the write is enough. The oracle then assumes that the write was attempted at any time since its
 * life began. A crash before the promise may therefore leave it or not, and the oracle knows an
 * order only among promises to one thread for one key. For a stricter oracle (phantoms, removals,
 * lazy commits, process death) announce each write by {@link #attempt(String, String)}, or by
 * {@link #begin()} with {@link Group#committing()}.
 *
 * <p>Threads: any; a {@link Group} belongs to one thread at a time. Failure: none.
 */
public interface Promises {

  /**
   * Returns the seed of this life, for work that differs from life to life but can be repeated
   * exactly.
   *
   * @return the seed
   */
  long seed();

  /**
   * Returns a new generator with that seed; each call starts from the seed again.
   *
   * @return the generator
   */
  RandomGenerator random();

  /**
   * Reports that a write is about to be made.
   *
   * @param key the key
   * @param value its new value; null: removed
   */
  void attempt(String key, @Nullable String value);

  /**
   * Reports that a write is about to be made.
   *
   * @param key the key
   * @param value its new value; null: removed
   */
  void attempt(byte[] key, byte @Nullable [] value);

  /**
   * Reports that the store promised a write to be durable.
   *
   * @param key the key
   * @param value its new value; null: removed
   */
  void durable(String key, @Nullable String value);

  /**
   * Reports that the store promised a write to be durable.
   *
   * @param key the key
   * @param value its new value; null: removed
   */
  void durable(byte[] key, byte @Nullable [] value);

  /**
   * Reports that the store accepted a write which is visible but not yet durable (a lazy commit).
   * After a crash a prefix of these writes is there, in the order in which they were accepted.
   *
   * @param key the key
   * @param value its new value; null: removed
   */
  void lazy(String key, @Nullable String value);

  /**
   * Reports that the store accepted a write which is visible but not yet durable.
   *
   * @param key the key
   * @param value its new value; null: removed
   */
  void lazy(byte[] key, byte @Nullable [] value);

  /**
   * Reports that a flush has ended which began after this thread's previous report. Everything that
   * the store had accepted lazily before the flush began is durable now.
   */
  void allDurable();

  /**
   * Reports what a durable reader returned: from now on the write that it saw must survive. The
   * read must have begun after this thread's last report of another kind. Several such reports may
   * belong to one snapshot.
   *
   * @param key the key
   * @param value what the reader returned; null: nothing
   */
  void durableRead(String key, @Nullable String value);

  /**
   * Reports what a durable reader returned.
   *
   * @param key the key
   * @param value what the reader returned; null: nothing
   */
  void durableRead(byte[] key, byte @Nullable [] value);

  /**
   * Begins a group: writes that survive together or not at all (a transaction).
   *
   * @return the group
   */
  Group begin();

  /** Writes that survive together or not at all. */
  interface Group {

    /**
     * Adds a write. A later write of the same key replaces it.
     *
     * @param key the key
     * @param value its new value; null: removed
     * @return this
     */
    Group put(String key, @Nullable String value);

    /**
     * Adds a write. A later write of the same key replaces it.
     *
     * @param key the key
     * @param value its new value; null: removed
     * @return this
     */
    Group put(byte[] key, byte @Nullable [] value);

    /**
     * Reports that the subject is about to request the commit. After a crash before this report the
     * group must not be there.
     *
     * @return this
     */
    Group committing();

    /** Reports that the store promised the commit to be durable. */
    void durable();

    /** Reports that the store accepted the commit: visible but not yet durable. */
    void lazy();

    /** Reports that the group was rolled back. It must not be there after any crash. */
    void rolledBack();
  }
}
