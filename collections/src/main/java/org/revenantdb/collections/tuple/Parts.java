package org.revenantdb.collections.tuple;

import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.KeyCodec;

/** The codecs of the parts of a tuple. */
public final class Parts {
  private final KeyCodec<?>[] codecs;

  /** Parts with these codecs. */
  public Parts(KeyCodec<?>... codecs) {
    this.codecs = new KeyCodec<?>[codecs.length];
    for (int i = 0; i < codecs.length; i++) {
      this.codecs[i] = codecs[i].asPart();
    }
  }

  /** The codec of a part, whose type the caller knows. */
  @SuppressWarnings("unchecked") // what comes in and goes out is of the type that the tuple has
  public <P extends @Nullable Object> KeyCodec<P> codec(int part) {
    return (KeyCodec<P>) codecs[part];
  }

  /** Writes a part. */
  public void write(int part, @Nullable Object value, ByteWriter out) {
    Parts.this.<@Nullable Object>codec(part).encode(value, out);
  }

  /** The bytes of the first parts. */
  public byte[] prefix(@Nullable Object... values) {
    ByteWriter out = new ByteWriter();
    for (int i = 0; i < values.length; i++) {
      write(i, values[i], out);
    }
    return out.toByteArray();
  }

  /** The codec of a tuple inside another one. */
  public <K> KeyCodec<K> nested(
      Function<K, @Nullable Object[]> values, Function<@Nullable Object[], K> tuple) {
    return new Nested<>(this, values, tuple);
  }

  /** How many there are. */
  public int count() {
    return codecs.length;
  }

  @Override
  public String toString() {
    return Arrays.toString(codecs);
  }

  /**
   * A tuple inside a tuple. A null inside is 00 FF, since a 00 ends it.
   *
   * @param parts its parts
   * @param values takes it apart
   * @param tuple puts it together
   * @param <K> its type
   */
  private record Nested<K>(
      Parts parts, Function<K, @Nullable Object[]> values, Function<@Nullable Object[], K> tuple)
      implements KeyCodec<K> {
    @Override
    public void encode(K key, ByteWriter out) {
      @Nullable Object[] each = values.apply(key);
      out.writeByte(TypeCode.NESTED);
      for (int i = 0; i < each.length; i++) {
        int from = out.length();
        parts.write(i, each[i], out);
        if (out.isZeroFrom(from)) {
          out.writeByte(TypeCode.NEVER);
        }
      }
      out.writeByte(0);
    }

    @Override
    public K decode(ByteReader in) {
      TypeCode.expect(in, TypeCode.NESTED);
      @Nullable Object[] each = new @Nullable Object[parts.count()];
      for (int i = 0; i < each.length; i++) {
        boolean isNull = in.peek() == TypeCode.NULL;
        each[i] = parts.<@Nullable Object>codec(i).decode(in);
        if (isNull) {
          TypeCode.expect(in, TypeCode.NEVER);
        }
      }
      TypeCode.expect(in, 0);
      return tuple.apply(each);
    }

    @Override
    public String toString() {
      return parts.toString();
    }
  }
}
