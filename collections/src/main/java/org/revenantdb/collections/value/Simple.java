package org.revenantdb.collections.value;

import java.util.function.BiConsumer;
import java.util.function.Function;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.Codec;

/**
 * A value of a simple type, which is all that its bytes have.
 *
 * @param name for messages
 * @param writer how it is written
 * @param reader how it is read
 * @param <V> type of the values
 */
public record Simple<V>(
    String name, BiConsumer<V, ByteWriter> writer, Function<ByteReader, V> reader)
    implements Codec<V> {
  @Override
  public void encode(V value, ByteWriter out) {
    writer.accept(value, out);
  }

  @Override
  public V decode(ByteReader in) {
    V value = reader.apply(in);
    if (in.remaining() > 0) {
      throw new IllegalArgumentException(
          in.remaining() + " bytes follow behind the value; read it with its own codec");
    }
    return value;
  }

  @Override
  public String toString() {
    return name;
  }
}
