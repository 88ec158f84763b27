package org.revenantdb.collections.tuple;

import java.math.BigInteger;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;

/** Integers, in as few bytes as they need ({@link TypeCode}). */
public final class Integers {
  private static final int MAX_BYTES = 255;

  private Integers() {}

  /** Writes a signed number. */
  public static void write(long value, ByteWriter out) {
    if (value >= 0) {
      writeUnsigned(value, out);
    } else {
      int bytes = bytesOf(-value);
      out.writeByte(TypeCode.ZERO - bytes);
      out.writeLowest(value - 1, bytes); // the inverted absolute value
    }
  }

  /** Writes an unsigned number. */
  public static void writeUnsigned(long value, ByteWriter out) {
    int bytes = bytesOf(value);
    out.writeByte(TypeCode.ZERO + bytes);
    out.writeLowest(value, bytes);
  }

  private static int bytesOf(long unsigned) {
    return (Long.SIZE - Long.numberOfLeadingZeros(unsigned) + Byte.SIZE - 1) / Byte.SIZE;
  }

  /** Reads a signed number. */
  public static long read(ByteReader in) {
    int bytes = in.readByte() - TypeCode.ZERO;
    if (bytes >= 0 && bytes <= Long.BYTES) {
      long value = in.readLowest(bytes);
      if (value < 0) {
        throw new IllegalArgumentException(
            Long.toUnsignedString(value) + " is above the range of the codec");
      }
      return value;
    }
    if (bytes < 0 && bytes >= -Long.BYTES) {
      long value = -(~in.readLowest(-bytes) & mask(-bytes));
      if (value > 0) {
        throw new IllegalArgumentException(
            "-" + Long.toUnsignedString(-value) + " is below the range of the codec");
      }
      return value;
    }
    throw TypeCode.unexpected(bytes + TypeCode.ZERO);
  }

  private static long mask(int bytes) {
    return bytes == Long.BYTES ? -1 : (1L << (bytes * Byte.SIZE)) - 1;
  }

  /** Reads an unsigned number. */
  public static long readUnsigned(ByteReader in) {
    int bytes = in.readByte() - TypeCode.ZERO;
    if (bytes < 0 || bytes > Long.BYTES) {
      throw TypeCode.unexpected(bytes + TypeCode.ZERO);
    }
    return in.readLowest(bytes);
  }

  /** Reads a number from a range. */
  public static long read(ByteReader in, long lowest, long highest) {
    long value = read(in);
    if (value < lowest || value > highest) {
      throw new IllegalArgumentException(value + " is out of the range of the codec");
    }
    return value;
  }

  /** Writes a number of any size. */
  public static void write(BigInteger value, ByteWriter out) {
    BigInteger magnitude = value.abs();
    int bytes = (magnitude.bitLength() + Byte.SIZE - 1) / Byte.SIZE;
    if (bytes > MAX_BYTES) {
      throw new IllegalArgumentException(
          "an integer in a key may have " + MAX_BYTES + " bytes; this one has " + bytes);
    }
    boolean isNegative = value.signum() < 0;
    int from = out.length();
    if (bytes <= Long.BYTES) {
      out.writeByte(TypeCode.ZERO + (isNegative ? -bytes : bytes));
    } else {
      out.writeByte(isNegative ? TypeCode.NEGATIVE : TypeCode.POSITIVE);
      out.writeByte(bytes);
    }
    byte[] twos = magnitude.toByteArray(); // may begin with a zero, for the sign
    out.writeBytes(twos, twos.length - bytes, bytes);
    if (isNegative) {
      out.invertFrom(from + 1);
    }
  }

  /** Reads a number of any size. */
  public static BigInteger readBig(ByteReader in) {
    int code = in.peek();
    if (code == TypeCode.POSITIVE) {
      in.skip(1);
      return new BigInteger(1, in.readBytes(in.readByte()));
    }
    if (code == TypeCode.NEGATIVE) {
      in.skip(1);
      byte[] bytes = in.readBytes(~in.readByte() & 0xFF);
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) ~bytes[i];
      }
      return new BigInteger(-1, bytes);
    }
    int bytes = code - TypeCode.ZERO;
    if (Math.abs(bytes) > Long.BYTES) {
      throw TypeCode.unexpected(code);
    }
    in.skip(1);
    byte[] magnitude = in.readBytes(Math.abs(bytes));
    if (bytes < 0) {
      for (int i = 0; i < magnitude.length; i++) {
        magnitude[i] = (byte) ~magnitude[i];
      }
    }
    return new BigInteger(Integer.signum(bytes), magnitude);
  }
}
