package org.revenantdb.collections.tuple;

import org.revenantdb.collections.ByteReader;

/**
 * The first byte of an element, which says what follows. Those below 40 are FoundationDB's; those
 * from 40 to 4F it leaves to others.
 *
 * <pre>
 * 00     null
 * 01     bytes, 00              a 00 among the bytes is followed by FF
 * 02     UTF-8, 00              the same
 * 05     elements, 00           a tuple inside a tuple; a null among the elements is 00 FF
 * 0B     length, bytes          integer below -(2^64 - 1): both are inverted
 * 0C..13 8..1 bytes             negative integer: its absolute value, inverted
 * 14                            zero
 * 15..1C 1..8 bytes             positive integer
 * 1D     length, bytes          integer above 2^64 - 1
 * 20     4 bytes                float: the sign bit inverted, or all bits if it is set
 * 21     8 bytes                double: the same
 * 26, 27                        false, true
 * 30     16 bytes               UUID
 * 40     element, 00            descending: all bytes behind the code are inverted
 * 41     sign, exponent, digits decimal number: see Decimals
 * FF     never
 * </pre>
 */
public final class TypeCode {
  /** Null. */
  public static final int NULL = 0x00;

  /** Bytes. */
  public static final int BYTES = 0x01;

  /** Text. */
  public static final int TEXT = 0x02;

  /** A tuple inside a tuple. */
  public static final int NESTED = 0x05;

  /** An integer of more than eight bytes, negative. */
  public static final int NEGATIVE = 0x0B;

  /** The integer zero; others are as many codes away as they have bytes. */
  public static final int ZERO = 0x14;

  /** An integer of more than eight bytes. */
  public static final int POSITIVE = 0x1D;

  /** A float. */
  public static final int FLOAT = 0x20;

  /** A double. */
  public static final int DOUBLE = 0x21;

  /** False. */
  public static final int FALSE = 0x26;

  /** True. */
  public static final int TRUE = 0x27;

  /** A UUID. */
  public static final int UUID = 0x30;

  /** An element in reverse order. */
  public static final int DESCENDING = 0x40;

  /** A decimal number. */
  public static final int DECIMAL = 0x41;

  /** What no element begins with: it is behind all that can follow an element. */
  public static final int NEVER = 0xFF;

  private TypeCode() {}

  /** Reads a code that has to be the next one. */
  public static void expect(ByteReader in, int code) {
    int found = in.readByte();
    if (found != code) {
      throw unexpected(found);
    }
  }

  /** The exception for a code that the codec does not read. */
  public static IllegalArgumentException unexpected(int code) {
    return new IllegalArgumentException(
        "an element begins with "
            + Integer.toHexString(code)
            + ", which this codec does not know; read it with the codec that wrote it");
  }
}
