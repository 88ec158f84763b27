package org.revenantdb.collections.tuple;

import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.KeyCodec;

/**
 * Keys that may be null, which is before all others.
 *
 * @param part the codec of those that are not
 * @param <K> type of the keys
 */
public record OrNull<K>(KeyCodec<K> part) implements KeyCodec<@Nullable K> {
  @Override
  public void encode(@Nullable K key, ByteWriter out) {
    if (key == null) {
      out.writeByte(TypeCode.NULL);
    } else {
      part.encode(key, out);
    }
  }

  @Override
  public @Nullable K decode(ByteReader in) {
    if (in.peek() == TypeCode.NULL) {
      in.skip(1);
      return null;
    }
    return part.decode(in);
  }

  @Override
  public String toString() {
    return part + " or null";
  }
}
