package org.revenantdb.collections;

import org.revenantdb.collections.value.ByArrays;

/**
 * How a value becomes bytes and is read from them. {@link Codecs} has codecs for common types.
 *
 * <p>A codec may throw any unchecked exception. A table then throws {@link CodecException}, and the
 * transaction stays usable. Threads: a codec is used by all threads at the same time, so it has no
 * state that changes.
 *
 * @param <V> type of the values
 */
public interface Codec<V> {
  /**
   * Writes a value.
   *
   * @param value the value, not null
   * @param out where it is written
   */
  void encode(V value, ByteWriter out);

  /**
   * Reads a value. The reader has the bytes of this value and no others.
   *
   * @param in the bytes, which are overwritten after the call
   * @return the value, not null
   */
  V decode(ByteReader in);

  /**
   * A codec of two functions, for libraries that have arrays.
   *
   * {@snippet :
   * Codec<Order> orders = Codec.of(Order::toByteArray, Order::parseFrom);
   * }
   *
   * <p>A checked exception of a function is the cause of the {@link CodecException} of a table,
   * like an unchecked one.
   *
   * @param to makes the bytes of a value
   * @param from makes a value from its bytes; the array is its own
   * @param <V> type of the values
   * @return a codec
   */
  static <V> Codec<V> of(
      Conversion<? super V, byte[]> to, Conversion<? super byte[], ? extends V> from) {
    return new ByArrays<>(to, from);
  }

  /**
   * A function of a library, which may throw checked exceptions.
   *
   * @param <A> type of its argument
   * @param <B> type of its result
   */
  @FunctionalInterface
  interface Conversion<A, B> {
    /**
     * Converts a value.
     *
     * @param value the value, not null
     * @return the result, not null
     * @throws Exception if it cannot be converted
     */
    B apply(A value) throws Exception;
  }
}
