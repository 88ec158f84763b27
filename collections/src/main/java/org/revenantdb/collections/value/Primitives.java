package org.revenantdb.collections.value;

import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;

/** Components of primitive types, each in its full width; {@code RecordBody} finds them by name. */
final class Primitives {
  private Primitives() {}

  static boolean readBoolean(ByteReader in) {
    return in.readByte() != 0;
  }

  static void writeBoolean(ByteWriter out, boolean value) {
    out.writeByte(value ? 1 : 0);
  }

  static byte readByte(ByteReader in) {
    return (byte) in.readByte();
  }

  static void writeByte(ByteWriter out, byte value) {
    out.writeByte(value);
  }

  static short readShort(ByteReader in) {
    return (short) in.readShort();
  }

  static void writeShort(ByteWriter out, short value) {
    out.writeShort(value);
  }

  static char readChar(ByteReader in) {
    return (char) in.readShort();
  }

  static void writeChar(ByteWriter out, char value) {
    out.writeShort(value);
  }

  static int readInt(ByteReader in) {
    return in.readInt();
  }

  static void writeInt(ByteWriter out, int value) {
    out.writeInt(value);
  }

  static long readLong(ByteReader in) {
    return in.readLong();
  }

  static void writeLong(ByteWriter out, long value) {
    out.writeLong(value);
  }

  static float readFloat(ByteReader in) {
    return Float.intBitsToFloat(in.readInt());
  }

  static void writeFloat(ByteWriter out, float value) {
    out.writeInt(Float.floatToRawIntBits(value));
  }

  static double readDouble(ByteReader in) {
    return Double.longBitsToDouble(in.readLong());
  }

  static void writeDouble(ByteWriter out, double value) {
    out.writeLong(Double.doubleToRawLongBits(value));
  }
}
