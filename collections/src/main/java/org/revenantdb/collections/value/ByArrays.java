package org.revenantdb.collections.value;

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
      throw new Checked(checked);
    }
  }

  /** What a function has thrown; a table tells its cause, with table and key. */
  public static final class Checked extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Checked(Exception cause) {
      super(cause);
    }
  }
}
