package org.revenantdb.collections.tuple;

import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.KeyCodec;

/** Keys that are their bytes: nothing says where one ends. */
public enum RawBytes implements KeyCodec<byte[]> {
  /** The only one. */
  INSTANCE;

  @Override
  public void encode(byte[] key, ByteWriter out) {
    out.writeBytes(key);
  }

  @Override
  public byte[] decode(ByteReader in) {
    return in.readBytes(in.remaining());
  }

  @Override
  public KeyCodec<byte[]> asPart() {
    throw new IllegalArgumentException(
        "raw bytes do not say where they end, so they cannot be part of a tuple or an index; use"
            + " Keys.bytes()");
  }

  @Override
  public String toString() {
    return "raw bytes";
  }
}
