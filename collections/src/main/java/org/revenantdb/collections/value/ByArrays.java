package org.revenantdb.collections.value;

import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.Codec;
import org.revenantdb.collections.CodecException;

/**
 * A codec of two functions.
 *
 * @param to makes the bytes of a value
 * @param from makes a value from its bytes
 * @param <V> type of the values
 */
public record ByArrays<V>(
    Conversion<? super V, byte[]> to, Conversion<? super byte[], ? extends V> from)
    implements Codec<V> {
  @Override
  public void encode(V value, ByteWriter out) {
    out.writeBytes(converted(to, value));
  }

  @Override
  public V decode(ByteReader in) {
    return converted(from, in.readBytes(in.remaining()));
  }

  private static <A, B> B converted(Conversion<A, B> conversion, A value) {
    try {
      return conversion.apply(value);
    } catch (RuntimeException unchecked) {
      throw unchecked;
    } catch (Exception checked) {
      if (checked instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      // The table unwraps it and adds table and key.
      throw new CodecException(String.valueOf(checked.getMessage()), checked);
    }
  }
}
