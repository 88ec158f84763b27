package org.revenantdb.collections;

import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.tuple.Parts;

/**
 * A key of four parts. {@link Keys#tuple} makes its codec. Immutable if its parts are.
 *
 * @param first the first part
 * @param second the second part
 * @param third the third part
 * @param fourth the fourth part
 * @param <A> type of the first part
 * @param <B> type of the second part
 * @param <C> type of the third part
 * @param <D> type of the fourth part
 */
public record Tuple4<
    A extends @Nullable Object,
    B extends @Nullable Object,
    C extends @Nullable Object,
    D extends @Nullable Object>(
    A first, B second, C third, D fourth) {
  /**
   * A key.
   *
   * @param first the first part
   * @param second the second part
   * @param third the third part
   * @param fourth the fourth part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @return the key
   */
  public static <
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object>
      Tuple4<A, B, C, D> of(A first, B second, C third, D fourth) {
    return new Tuple4<>(first, second, third, fourth);
  }

  /**
   * The codec of such keys: the elements of the parts, one after the other. It makes prefixes of
   * one part and more. Thread-safe.
   *
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   */
  public static final class Codec<
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object>
      implements KeyCodec<Tuple4<A, B, C, D>> {
    private final Parts parts;

    Codec(KeyCodec<A> first, KeyCodec<B> second, KeyCodec<C> third, KeyCodec<D> fourth) {
      parts = new Parts(first, second, third, fourth);
    }

    @Override
    public void encode(Tuple4<A, B, C, D> key, ByteWriter out) {
      parts.write(0, key.first, out);
      parts.write(1, key.second, out);
      parts.write(2, key.third, out);
      parts.write(3, key.fourth, out);
    }

    @Override
    public Tuple4<A, B, C, D> decode(ByteReader in) {
      A first = parts.<A>codec(0).decode(in);
      B second = parts.<B>codec(1).decode(in);
      C third = parts.<C>codec(2).decode(in);
      D fourth = parts.<D>codec(3).decode(in);
      return new Tuple4<>(first, second, third, fourth);
    }

    @Override
    @SuppressWarnings("unchecked") // each part is of the type of its place
    public KeyCodec<Tuple4<A, B, C, D>> asPart() {
      return parts.nested(
          key -> new @Nullable Object[] {key.first, key.second, key.third, key.fourth},
          each -> new Tuple4<>((A) each[0], (B) each[1], (C) each[2], (D) each[3]));
    }

    /**
     * All keys with this first part.
     *
     * @param first the first part
     * @return the range; it can be narrowed by the second part
     */
    public KeyPrefix<Tuple4<A, B, C, D>, B> prefix(A first) {
      return new KeyPrefix<>(parts.prefix(new @Nullable Object[] {first}), parts.codec(1));
    }

    /**
     * All keys with these first two parts.
     *
     * @param first the first part
     * @param second the second part
     * @return the range; it can be narrowed by the third part
     */
    public KeyPrefix<Tuple4<A, B, C, D>, C> prefix(A first, B second) {
      return new KeyPrefix<>(parts.prefix(first, second), parts.codec(2));
    }

    /**
     * All keys with these first three parts.
     *
     * @param first the first part
     * @param second the second part
     * @param third the third part
     * @return the range; it can be narrowed by the fourth part
     */
    public KeyPrefix<Tuple4<A, B, C, D>, D> prefix(A first, B second, C third) {
      return new KeyPrefix<>(parts.prefix(first, second, third), parts.codec(3));
    }

    @Override
    public String toString() {
      return parts.toString();
    }
  }
}
