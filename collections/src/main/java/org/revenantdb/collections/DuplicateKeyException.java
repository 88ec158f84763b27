package org.revenantdb.collections;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.RevenantException;

/**
 * Two rows would have the same entry in a unique index.
 *
 * <p>The statement has changed nothing, and the transaction stays open and usable.
 */
public final class DuplicateKeyException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /** The name of the index. */
  private final String index;

  /** The key of the row that was to be stored. */
  private final transient @Nullable Object key;

  /** The key of the existing row. */
  private final transient @Nullable Object existingKey;

  /**
   * An exception.
   *
   * @param message what happened, and what to do
   * @param index the name of the index
   * @param key the key of the row that was to be stored
   * @param existingKey the key of the row that has the entry
   */
  public DuplicateKeyException(
      String message, String index, @Nullable Object key, @Nullable Object existingKey) {
    super(message);
    this.index = index;
    this.key = key;
    this.existingKey = existingKey;
  }

  /**
   * The name of the index.
   *
   * @return the name
   */
  public String index() {
    return index;
  }

  /**
   * The key of the row that was to be stored.
   *
   * @return the key; null in a copy that was serialized
   */
  public @Nullable Object key() {
    return key;
  }

  /**
   * The key of the row that has the entry.
   *
   * @return the key; null in a copy that was serialized
   */
  public @Nullable Object existingKey() {
    return existingKey;
  }
}
