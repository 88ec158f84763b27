package org.revenantdb.collections;

import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.tuple.Parts;

/**
 * A key of two parts. {@link Keys#tuple} makes its codec. Immutable if its parts are.
 *
 * @param first the first part
 * @param second the second part
 * @param <A> type of the first part
 * @param <B> type of the second part
 */
public record Tuple2<A extends @Nullable Object, B extends @Nullable Object>(A first, B second) {
  /**
   * A key.
   *
   * @param first the first part
   * @param second the second part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @return the key
   */
  public static <A extends @Nullable Object, B extends @Nullable Object> Tuple2<A, B> of(
      A first, B second) {
    return new Tuple2<>(first, second);
  }

  /**
   * The codec of such keys: the elements of the parts, one after the other. It makes prefixes of
   * one part and more. Thread-safe.
   *
   * @param <A> type of the first part
   * @param <B> type of the second part
   */
  public static final class Codec<A extends @Nullable Object, B extends @Nullable Object>
      implements KeyCodec<Tuple2<A, B>> {
    private final Parts parts;

    Codec(KeyCodec<A> first, KeyCodec<B> second) {
      parts = new Parts(first, second);
    }

    @Override
    public void encode(Tuple2<A, B> key, ByteWriter out) {
      parts.write(0, key.first, out);
      parts.write(1, key.second, out);
    }

    @Override
    public Tuple2<A, B> decode(ByteReader in) {
      A first = parts.<A>codec(0).decode(in);
      B second = parts.<B>codec(1).decode(in);
      return new Tuple2<>(first, second);
    }

    @Override
    @SuppressWarnings("unchecked") // each part is of the type of its place
    public KeyCodec<Tuple2<A, B>> asPart() {
      return parts.nested(
          key -> new @Nullable Object[] {key.first, key.second},
          each -> new Tuple2<>((A) each[0], (B) each[1]));
    }

    /**
     * All keys with this first part.
     *
     * @param first the first part
     * @return the range; it can be narrowed by the second part
     */
    public KeyPrefix<Tuple2<A, B>, B> prefix(A first) {
      return new KeyPrefix<>(parts.prefix(new @Nullable Object[] {first}), parts.codec(1));
    }

    @Override
    public String toString() {
      return parts.toString();
    }
  }
}
