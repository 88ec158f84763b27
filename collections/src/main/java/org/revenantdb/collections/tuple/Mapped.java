package org.revenantdb.collections.tuple;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.KeyCodec;

/**
 * Values that have keys of another type.
 *
 * @param codec of their keys
 * @param from makes a value from a key
 * @param to makes the key of a value
 * @param <K> type of the keys
 * @param <T> type of the values
 */
public record Mapped<K extends @Nullable Object, T>(
    KeyCodec<K> codec, Function<? super K, ? extends T> from, Function<? super T, ? extends K> to)
    implements KeyCodec<T> {
  @Override
  public void encode(T value, ByteWriter out) {
    codec.encode(to.apply(value), out);
  }

  @Override
  public T decode(ByteReader in) {
    return from.apply(codec.decode(in));
  }

  @Override
  public KeyCodec<T> asPart() {
    return new Mapped<>(codec.asPart(), from, to);
  }

  @Override
  public String toString() {
    return codec.toString();
  }
}
