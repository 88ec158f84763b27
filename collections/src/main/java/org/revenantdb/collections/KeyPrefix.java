package org.revenantdb.collections;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.tuple.TypeCode;

/**
 * All keys with the same first parts, and ranges of them by the next part. Immutable.
 *
 * {@snippet :
 * var keys = Keys.tuple(Keys.strings(), Keys.localDates(), Keys.longs());
 * KeyRange<...> ofAda = keys.prefix("ada");
 * KeyRange<...> ofAdaInMay = keys.prefix("ada").between(LocalDate.of(2026, 5, 1), LocalDate.of(2026, 6, 1));
 * }
 *
 * @param <K> type of the keys
 * @param <P> type of the next part
 */
public final class KeyPrefix<K, P extends @Nullable Object> extends KeyRange<K> {
  /*
   * What follows the prefix begins with a type code, which is below FF. Keys that begin with the bytes of the prefix
   * and continue with FF have another prefix: its last text or array has a zero where this one ends. So the end is
   * prefix, FF.
   */
  private final byte[] prefix;

  private final KeyCodec<P> next;

  KeyPrefix(byte[] prefix, KeyCodec<P> next) {
    super(prefix, behind(prefix));
    this.prefix = prefix;
    this.next = next;
  }

  /** The first bytes after all keys that begin with these elements. */
  static byte[] behind(byte[] elements) {
    byte[] end = Arrays.copyOf(elements, elements.length + 1);
    end[elements.length] = (byte) TypeCode.NEVER;
    return end;
  }

  private byte[] with(P part) {
    ByteWriter out = new ByteWriter();
    out.writeBytes(prefix);
    next.encode(part, out);
    return out.toByteArray();
  }

  /**
   * The keys whose next part is this one.
   *
   * @param part the next part
   * @return the range
   */
  public KeyRange<K> equalTo(P part) {
    byte[] bytes = with(part);
    return new KeyRange<>(bytes, behind(bytes));
  }

  /**
   * The keys whose next part is at least this one.
   *
   * @param part the smallest part of the range
   * @return the range
   */
  public KeyRange<K> atLeast(P part) {
    return new KeyRange<>(with(part), to());
  }

  /**
   * The keys whose next part is above this one.
   *
   * @param part the largest part that does not belong to the range
   * @return the range
   */
  public KeyRange<K> greaterThan(P part) {
    return new KeyRange<>(behind(with(part)), to());
  }

  /**
   * The keys whose next part is at most this one.
   *
   * @param part the largest part of the range
   * @return the range
   */
  public KeyRange<K> atMost(P part) {
    return new KeyRange<>(from(), behind(with(part)));
  }

  /**
   * The keys whose next part is below this one.
   *
   * @param part the smallest part that does not belong to the range
   * @return the range
   */
  public KeyRange<K> lessThan(P part) {
    return new KeyRange<>(from(), with(part));
  }

  /**
   * The keys whose next part is at least the first, and below the end.
   *
   * @param first the smallest part of the range
   * @param end the smallest part that does not belong to the range
   * @return the range; empty if the end is not above the first
   */
  public KeyRange<K> between(P first, P end) {
    return new KeyRange<>(with(first), with(end));
  }
}
