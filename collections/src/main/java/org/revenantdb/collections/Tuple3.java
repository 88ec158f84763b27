package org.revenantdb.collections;

import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.tuple.Parts;

/**
 * A key of three parts. {@link Keys#tuple} makes its codec. Immutable if its parts are.
 *
 * @param first the first part
 * @param second the second part
 * @param third the third part
 * @param <A> type of the first part
 * @param <B> type of the second part
 * @param <C> type of the third part
 */
public record Tuple3<
    A extends @Nullable Object, B extends @Nullable Object, C extends @Nullable Object>(
    A first, B second, C third) {
  /**
   * A key.
   *
   * @param first the first part
   * @param second the second part
   * @param third the third part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @return the key
   */
  public static <A extends @Nullable Object, B extends @Nullable Object, C extends @Nullable Object>
      Tuple3<A, B, C> of(A first, B second, C third) {
    return new Tuple3<>(first, second, third);
  }

  /**
   * The codec of such keys: the elements of the parts, one after the other. It makes prefixes of
   * one part and more. Thread-safe.
   *
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   */
  public static final class Codec<
          A extends @Nullable Object, B extends @Nullable Object, C extends @Nullable Object>
      implements KeyCodec<Tuple3<A, B, C>> {
    private final Parts parts;

    Codec(KeyCodec<A> first, KeyCodec<B> second, KeyCodec<C> third) {
      parts = new Parts(first, second, third);
    }

    @Override
    public void encode(Tuple3<A, B, C> key, ByteWriter out) {
      parts.write(0, key.first, out);
      parts.write(1, key.second, out);
      parts.write(2, key.third, out);
    }

    @Override
    public Tuple3<A, B, C> decode(ByteReader in) {
      A first = parts.<A>codec(0).decode(in);
      B second = parts.<B>codec(1).decode(in);
      C third = parts.<C>codec(2).decode(in);
      return new Tuple3<>(first, second, third);
    }

    @Override
    @SuppressWarnings("unchecked") // each part is of the type of its place
    public KeyCodec<Tuple3<A, B, C>> asPart() {
      return parts.nested(
          key -> new @Nullable Object[] {key.first, key.second, key.third},
          each -> new Tuple3<>((A) each[0], (B) each[1], (C) each[2]));
    }

    /**
     * All keys with this first part.
     *
     * @param first the first part
     * @return the range; it can be narrowed by the second part
     */
    public KeyPrefix<Tuple3<A, B, C>, B> prefix(A first) {
      return new KeyPrefix<>(parts.prefix(new @Nullable Object[] {first}), parts.codec(1));
    }

    /**
     * All keys with these first two parts.
     *
     * @param first the first part
     * @param second the second part
     * @return the range; it can be narrowed by the third part
     */
    public KeyPrefix<Tuple3<A, B, C>, C> prefix(A first, B second) {
      return new KeyPrefix<>(parts.prefix(first, second), parts.codec(2));
    }

    @Override
    public String toString() {
      return parts.toString();
    }
  }
}
