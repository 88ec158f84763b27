package org.revenantdb.collections;

import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.tuple.Parts;

/**
 * A key of six parts. {@link Keys#tuple} makes its codec. Immutable if its parts are.
 *
 * @param first the first part
 * @param second the second part
 * @param third the third part
 * @param fourth the fourth part
 * @param fifth the fifth part
 * @param sixth the sixth part
 * @param <A> type of the first part
 * @param <B> type of the second part
 * @param <C> type of the third part
 * @param <D> type of the fourth part
 * @param <E> type of the fifth part
 * @param <F> type of the sixth part
 */
public record Tuple6<
    A extends @Nullable Object,
    B extends @Nullable Object,
    C extends @Nullable Object,
    D extends @Nullable Object,
    E extends @Nullable Object,
    F extends @Nullable Object>(
    A first, B second, C third, D fourth, E fifth, F sixth) {
  /**
   * A key.
   *
   * @param first the first part
   * @param second the second part
   * @param third the third part
   * @param fourth the fourth part
   * @param fifth the fifth part
   * @param sixth the sixth part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @param <E> type of the fifth part
   * @param <F> type of the sixth part
   * @return the key
   */
  public static <
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object,
          E extends @Nullable Object,
          F extends @Nullable Object>
      Tuple6<A, B, C, D, E, F> of(A first, B second, C third, D fourth, E fifth, F sixth) {
    return new Tuple6<>(first, second, third, fourth, fifth, sixth);
  }

  /**
   * The codec of such keys: the elements of the parts, one after the other. It makes prefixes of
   * one part and more. Thread-safe.
   *
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @param <E> type of the fifth part
   * @param <F> type of the sixth part
   */
  public static final class Codec<
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object,
          E extends @Nullable Object,
          F extends @Nullable Object>
      implements KeyCodec<Tuple6<A, B, C, D, E, F>> {
    private final Parts parts;

    Codec(
        KeyCodec<A> first,
        KeyCodec<B> second,
        KeyCodec<C> third,
        KeyCodec<D> fourth,
        KeyCodec<E> fifth,
        KeyCodec<F> sixth) {
      parts = new Parts(first, second, third, fourth, fifth, sixth);
    }

    @Override
    public void encode(Tuple6<A, B, C, D, E, F> key, ByteWriter out) {
      parts.write(0, key.first, out);
      parts.write(1, key.second, out);
      parts.write(2, key.third, out);
      parts.write(3, key.fourth, out);
      parts.write(4, key.fifth, out);
      parts.write(5, key.sixth, out);
    }

    @Override
    public Tuple6<A, B, C, D, E, F> decode(ByteReader in) {
      A first = parts.<A>codec(0).decode(in);
      B second = parts.<B>codec(1).decode(in);
      C third = parts.<C>codec(2).decode(in);
      D fourth = parts.<D>codec(3).decode(in);
      E fifth = parts.<E>codec(4).decode(in);
      F sixth = parts.<F>codec(5).decode(in);
      return new Tuple6<>(first, second, third, fourth, fifth, sixth);
    }

    @Override
    @SuppressWarnings("unchecked") // each part is of the type of its place
    public KeyCodec<Tuple6<A, B, C, D, E, F>> asPart() {
      return parts.nested(
          key ->
              new @Nullable Object[] {
                key.first, key.second, key.third, key.fourth, key.fifth, key.sixth
              },
          each ->
              new Tuple6<>(
                  (A) each[0], (B) each[1], (C) each[2], (D) each[3], (E) each[4], (F) each[5]));
    }

    /**
     * All keys with this first part.
     *
     * @param first the first part
     * @return the range; it can be narrowed by the second part
     */
    public KeyPrefix<Tuple6<A, B, C, D, E, F>, B> prefix(A first) {
      return new KeyPrefix<>(parts.prefix(new @Nullable Object[] {first}), parts.codec(1));
    }

    /**
     * All keys with these first two parts.
     *
     * @param first the first part
     * @param second the second part
     * @return the range; it can be narrowed by the third part
     */
    public KeyPrefix<Tuple6<A, B, C, D, E, F>, C> prefix(A first, B second) {
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
    public KeyPrefix<Tuple6<A, B, C, D, E, F>, D> prefix(A first, B second, C third) {
      return new KeyPrefix<>(parts.prefix(first, second, third), parts.codec(3));
    }

    /**
     * All keys with these first four parts.
     *
     * @param first the first part
     * @param second the second part
     * @param third the third part
     * @param fourth the fourth part
     * @return the range; it can be narrowed by the fifth part
     */
    public KeyPrefix<Tuple6<A, B, C, D, E, F>, E> prefix(A first, B second, C third, D fourth) {
      return new KeyPrefix<>(parts.prefix(first, second, third, fourth), parts.codec(4));
    }

    /**
     * All keys with these first five parts.
     *
     * @param first the first part
     * @param second the second part
     * @param third the third part
     * @param fourth the fourth part
     * @param fifth the fifth part
     * @return the range; it can be narrowed by the sixth part
     */
    public KeyPrefix<Tuple6<A, B, C, D, E, F>, F> prefix(
        A first, B second, C third, D fourth, E fifth) {
      return new KeyPrefix<>(parts.prefix(first, second, third, fourth, fifth), parts.codec(5));
    }

    @Override
    public String toString() {
      return parts.toString();
    }
  }
}
