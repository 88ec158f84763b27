package org.revenantdb.collections.value;

import java.util.function.Function;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.Codec;

/**
 * A codec of two functions.
 *
 * @param to makes the bytes of a value
 * @param from makes a value from its bytes
 * @param <V> type of the values
 */
public record ByArrays<V>(
    Function<? super V, byte[]> to, Function<? super byte[], ? extends V> from)
    implements Codec<V> {
  @Override
  public void encode(V value, ByteWriter out) {
    out.writeBytes(to.apply(value));
  }

  @Override
  public V decode(ByteReader in) {
    return from.apply(in.readBytes(in.remaining()));
  }
}
