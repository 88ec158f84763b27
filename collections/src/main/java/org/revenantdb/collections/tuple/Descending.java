package org.revenantdb.collections.tuple;

import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.KeyCodec;

/**
 * Keys in reverse order: a code, then the element and a zero, inverted.
 *
 * <p>Why the zero: the element of "a" is the beginning of that of "a\0", so inverted alone they
 * would keep their order. With the zero they differ in it. Why the code: an inverted null is FF.
 * After the zero that ends the element before, it would look like a continuation.
 *
 * @param part the codec of the element
 * @param <K> type of the keys
 */
public record Descending<K extends @Nullable Object>(KeyCodec<K> part) implements KeyCodec<K> {
  @Override
  public void encode(K key, ByteWriter out) {
    out.writeByte(TypeCode.DESCENDING);
    int from = out.length();
    part.encode(key, out);
    out.writeByte(0);
    out.invertFrom(from);
  }

  @Override
  public K decode(ByteReader in) {
    TypeCode.expect(in, TypeCode.DESCENDING);
    ByteReader inverted = in.inverted();
    K key = part.decode(inverted);
    TypeCode.expect(inverted, 0);
    in.skip(inverted.position());
    return key;
  }

  @Override
  public String toString() {
    return part + " descending";
  }
}
