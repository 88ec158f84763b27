package org.revenantdb.collections;

import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.tuple.Parts;

/**
 * A key of eight parts. {@link Keys#tuple} makes its codec. Immutable if its parts are.
 *
 * @param first the first part
 * @param second the second part
 * @param third the third part
 * @param fourth the fourth part
 * @param fifth the fifth part
 * @param sixth the sixth part
 * @param seventh the seventh part
 * @param eighth the eighth part
 * @param <A> type of the first part
 * @param <B> type of the second part
 * @param <C> type of the third part
 * @param <D> type of the fourth part
 * @param <E> type of the fifth part
 * @param <F> type of the sixth part
 * @param <G> type of the seventh part
 * @param <H> type of the eighth part
 */
public record Tuple8<
    A extends @Nullable Object,
    B extends @Nullable Object,
    C extends @Nullable Object,
    D extends @Nullable Object,
    E extends @Nullable Object,
    F extends @Nullable Object,
    G extends @Nullable Object,
    H extends @Nullable Object>(
    A first, B second, C third, D fourth, E fifth, F sixth, G seventh, H eighth) {
  /**
   * A key.
   *
   * @param first the first part
   * @param second the second part
   * @param third the third part
   * @param fourth the fourth part
   * @param fifth the fifth part
   * @param sixth the sixth part
   * @param seventh the seventh part
   * @param eighth the eighth part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @param <E> type of the fifth part
   * @param <F> type of the sixth part
   * @param <G> type of the seventh part
   * @param <H> type of the eighth part
   * @return the key
   */
  public static <
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object,
          E extends @Nullable Object,
          F extends @Nullable Object,
          G extends @Nullable Object,
          H extends @Nullable Object>
      Tuple8<A, B, C, D, E, F, G, H> of(
          A first, B second, C third, D fourth, E fifth, F sixth, G seventh, H eighth) {
    return new Tuple8<>(first, second, third, fourth, fifth, sixth, seventh, eighth);
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
   * @param <G> type of the seventh part
   * @param <H> type of the eighth part
   */
  public static final class Codec<
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object,
          E extends @Nullable Object,
          F extends @Nullable Object,
          G extends @Nullable Object,
          H extends @Nullable Object>
      implements KeyCodec<Tuple8<A, B, C, D, E, F, G, H>> {
    private final Parts parts;

    Codec(
        KeyCodec<A> first,
        KeyCodec<B> second,
        KeyCodec<C> third,
        KeyCodec<D> fourth,
        KeyCodec<E> fifth,
        KeyCodec<F> sixth,
        KeyCodec<G> seventh,
        KeyCodec<H> eighth) {
      parts = new Parts(first, second, third, fourth, fifth, sixth, seventh, eighth);
    }

    @Override
    public void encode(Tuple8<A, B, C, D, E, F, G, H> key, ByteWriter out) {
      parts.write(0, key.first, out);
      parts.write(1, key.second, out);
      parts.write(2, key.third, out);
      parts.write(3, key.fourth, out);
      parts.write(4, key.fifth, out);
      parts.write(5, key.sixth, out);
      parts.write(6, key.seventh, out);
      parts.write(7, key.eighth, out);
    }

    @Override
    public Tuple8<A, B, C, D, E, F, G, H> decode(ByteReader in) {
      A first = parts.<A>codec(0).decode(in);
      B second = parts.<B>codec(1).decode(in);
      C third = parts.<C>codec(2).decode(in);
      D fourth = parts.<D>codec(3).decode(in);
      E fifth = parts.<E>codec(4).decode(in);
      F sixth = parts.<F>codec(5).decode(in);
      G seventh = parts.<G>codec(6).decode(in);
      H eighth = parts.<H>codec(7).decode(in);
      return new Tuple8<>(first, second, third, fourth, fifth, sixth, seventh, eighth);
    }

    @Override
    @SuppressWarnings("unchecked") // each part is of the type of its place
    public KeyCodec<Tuple8<A, B, C, D, E, F, G, H>> asPart() {
      return parts.nested(
          key ->
              new @Nullable Object[] {
                key.first,
                key.second,
                key.third,
                key.fourth,
                key.fifth,
                key.sixth,
                key.seventh,
                key.eighth
              },
          each ->
              new Tuple8<>(
                  (A) each[0],
                  (B) each[1],
                  (C) each[2],
                  (D) each[3],
                  (E) each[4],
                  (F) each[5],
                  (G) each[6],
                  (H) each[7]));
    }

    /**
     * All keys with this first part.
     *
     * @param first the first part
     * @return the range; it can be narrowed by the second part
     */
    public KeyPrefix<Tuple8<A, B, C, D, E, F, G, H>, B> prefix(A first) {
      return new KeyPrefix<>(parts.prefix(new @Nullable Object[] {first}), parts.codec(1));
    }

    /**
     * All keys with these first two parts.
     *
     * @param first the first part
     * @param second the second part
     * @return the range; it can be narrowed by the third part
     */
    public KeyPrefix<Tuple8<A, B, C, D, E, F, G, H>, C> prefix(A first, B second) {
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
    public KeyPrefix<Tuple8<A, B, C, D, E, F, G, H>, D> prefix(A first, B second, C third) {
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
    public KeyPrefix<Tuple8<A, B, C, D, E, F, G, H>, E> prefix(
        A first, B second, C third, D fourth) {
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
    public KeyPrefix<Tuple8<A, B, C, D, E, F, G, H>, F> prefix(
        A first, B second, C third, D fourth, E fifth) {
      return new KeyPrefix<>(parts.prefix(first, second, third, fourth, fifth), parts.codec(5));
    }

    /**
     * All keys with these first six parts.
     *
     * @param first the first part
     * @param second the second part
     * @param third the third part
     * @param fourth the fourth part
     * @param fifth the fifth part
     * @param sixth the sixth part
     * @return the range; it can be narrowed by the seventh part
     */
    public KeyPrefix<Tuple8<A, B, C, D, E, F, G, H>, G> prefix(
        A first, B second, C third, D fourth, E fifth, F sixth) {
      return new KeyPrefix<>(
          parts.prefix(first, second, third, fourth, fifth, sixth), parts.codec(6));
    }

    /**
     * All keys with these first seven parts.
     *
     * @param first the first part
     * @param second the second part
     * @param third the third part
     * @param fourth the fourth part
     * @param fifth the fifth part
     * @param sixth the sixth part
     * @param seventh the seventh part
     * @return the range; it can be narrowed by the eighth part
     */
    public KeyPrefix<Tuple8<A, B, C, D, E, F, G, H>, H> prefix(
        A first, B second, C third, D fourth, E fifth, F sixth, G seventh) {
      return new KeyPrefix<>(
          parts.prefix(first, second, third, fourth, fifth, sixth, seventh), parts.codec(7));
    }

    @Override
    public String toString() {
      return parts.toString();
    }
  }
}
