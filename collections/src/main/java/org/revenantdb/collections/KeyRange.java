package org.revenantdb.collections;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A range of the keys of a table or an index. {@link KeyPrefix} makes ranges by part of a tuple.
 * Immutable.
 *
 * @param <K> type of the keys
 */
public class KeyRange<K extends @Nullable Object> {
  private final byte @Nullable [] from;
  private final byte @Nullable [] to;

  /** From the first bytes, inclusive, to others, exclusive; null for no bound. */
  KeyRange(byte @Nullable [] from, byte @Nullable [] to) {
    this.from = from;
    this.to = to;
  }

  /**
   * All keys.
   *
   * @param <K> type of the keys
   * @return the range
   */
  public static <K extends @Nullable Object> KeyRange<K> all() {
    return new KeyRange<>(null, null);
  }

  /** The first bytes of the range; null if there is no lower bound. Not copied. */
  byte @Nullable [] from() {
    return from;
  }

  /** The first bytes after the range; null if there is no upper bound. Not copied. */
  byte @Nullable [] to() {
    return to;
  }

  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return "KeyRange["
        + (from == null ? "the first key" : hex.formatHex(from))
        + " to "
        + (to == null ? "the last key" : hex.formatHex(to))
        + "]";
  }
}
