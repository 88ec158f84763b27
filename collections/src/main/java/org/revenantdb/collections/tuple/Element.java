package org.revenantdb.collections.tuple;

import java.util.function.BiConsumer;
import java.util.function.Function;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.KeyCodec;

/**
 * A key of one element.
 *
 * @param name for messages
 * @param writer how it is written
 * @param reader how it is read
 * @param <K> type of the keys
 */
public record Element<K>(
    String name, BiConsumer<K, ByteWriter> writer, Function<ByteReader, K> reader)
    implements KeyCodec<K> {
  @Override
  public void encode(K key, ByteWriter out) {
    writer.accept(key, out);
  }

  @Override
  public K decode(ByteReader in) {
    return reader.apply(in);
  }

  @Override
  public String toString() {
    return name;
  }
}
