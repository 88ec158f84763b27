package org.revenantdb.collections;

import java.util.Arrays;
import java.util.Comparator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.tuple.Descending;
import org.revenantdb.collections.tuple.Mapped;

/**
 * How a key becomes bytes whose order is the order of the keys. {@link Keys} has codecs for common
 * types, and {@link #map} makes one for a type of the application.
 *
 * <p>An implementation keeps these rules:
 *
 * <ul>
 *   <li>Two keys that are equal have the same bytes, and two that are not have different ones.
 *   <li>The bytes, compared as unsigned numbers from left to right, are in the order of the keys.
 *   <li>{@code decode} reads exactly what {@code encode} has written, also if more bytes follow; or
 *       else {@link #asPart} refuses.
 *   <li>The first byte is never FF.
 *   <li>The bytes of a key do not change from version to version of the application, because they
 *       are on disk.
 * </ul>
 *
 * <p>Threads: a codec is used by all threads at the same time, so it has no state that changes.
 *
 * @param <K> type of the keys
 */
public interface KeyCodec<K extends @Nullable Object> {
  /**
   * Writes a key. It may throw any unchecked exception; a table then throws {@link CodecException}.
   *
   * @param key the key
   * @param out where it is written
   */
  void encode(K key, ByteWriter out);

  /**
   * Reads a key.
   *
   * @param in from which exactly the bytes of the key are read
   * @return the key
   * @throws IllegalArgumentException if the bytes are not those of a key
   */
  K decode(ByteReader in);

  /**
   * The codec of a key that is followed by others in a tuple.
   *
   * @return this one, or another one if a part has other bytes than the whole of a key
   * @throws IllegalArgumentException if such keys cannot be part of a tuple
   */
  default KeyCodec<K> asPart() {
    return this;
  }

  /**
   * The same keys in reverse order.
   *
   * @return a codec, which can be part of a tuple
   */
  default KeyCodec<K> descending() {
    return new Descending<>(asPart());
  }

  /**
   * The codec of another type whose values have keys of this one.
   *
   * {@snippet :
   * KeyCodec<OrderId> ids = Keys.longs().map(OrderId::new, OrderId::number);
   * }
   *
   * @param from makes a value from a key
   * @param to makes the key of a value; different values have different keys
   * @param <T> the other type
   * @return a codec
   */
  default <T> KeyCodec<T> map(
      Function<? super K, ? extends T> from, Function<? super T, ? extends K> to) {
    return new Mapped<>(this, from, to);
  }

  /**
   * The bytes of a key.
   *
   * @param key the key
   * @return a new array
   */
  default byte[] toBytes(K key) {
    ByteWriter out = new ByteWriter();
    encode(key, out);
    return out.toByteArray();
  }

  /**
   * The key that has these bytes.
   *
   * @param bytes of one key
   * @return the key
   * @throws IllegalArgumentException if the bytes are not those of one key
   */
  default K fromBytes(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    K key = decode(in);
    if (in.remaining() > 0) {
      throw new IllegalArgumentException(in.remaining() + " bytes follow behind the key");
    }
    return key;
  }

  /**
   * The order in which tables keep the keys.
   *
   * @return a comparator of the bytes of two keys
   */
  default Comparator<K> comparator() {
    return (one, other) -> Arrays.compareUnsigned(toBytes(one), toBytes(other));
  }
}
