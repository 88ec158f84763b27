package org.revenantdb.collections;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.text.Collator;
import java.time.Instant;
import java.time.LocalDate;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.tuple.Decimals;
import org.revenantdb.collections.tuple.Element;
import org.revenantdb.collections.tuple.Integers;
import org.revenantdb.collections.tuple.OrNull;
import org.revenantdb.collections.tuple.RawBytes;
import org.revenantdb.collections.tuple.TypeCode;

/**
 * Codecs of keys. Their bytes are in the order of the keys; they are those of FoundationDB's tuple
 * layer, where it has the type.
 *
 * {@snippet :
 * Tuple2.Codec<String, Instant> byCustomer = Keys.tuple(Keys.strings(), Keys.instants().descending());
 * }
 *
 * <p>A key has at most {@link org.revenantdb.engine.Database#MAX_KEY_BYTES} bytes, all its parts
 * together. A text needs two bytes beside its UTF-8 and one for each character of code zero, an
 * integer one beside those of its absolute value. All codecs are thread-safe.
 */
public final class Keys {
  private static final long NANOS = 1_000_000_000L;

  private static final KeyCodec<Long> LONGS =
      new Element<>("long", (key, out) -> Integers.write(key, out), Integers::read);

  private static final KeyCodec<Integer> INTS =
      new Element<>(
          "int",
          (key, out) -> Integers.write((long) key, out),
          in -> (int) Integers.read(in, Integer.MIN_VALUE, Integer.MAX_VALUE));

  private static final KeyCodec<Long> UNSIGNED_LONGS =
      new Element<>(
          "unsigned long", (key, out) -> Integers.writeUnsigned(key, out), Integers::readUnsigned);

  private static final KeyCodec<Integer> UNSIGNED_INTS =
      new Element<>(
          "unsigned int",
          (key, out) -> Integers.write(Integer.toUnsignedLong(key), out),
          in -> (int) Integers.read(in, 0, 0xFFFF_FFFFL));

  private static final KeyCodec<BigInteger> BIG_INTEGERS =
      new Element<>("big integer", Integers::write, Integers::readBig);

  private static final KeyCodec<BigDecimal> BIG_DECIMALS =
      new Element<>("big decimal", Decimals::write, Decimals::read);

  private static final KeyCodec<String> STRINGS =
      new Element<>(
          "string",
          (key, out) -> {
            out.writeByte(TypeCode.TEXT);
            out.writeTerminatedUtf8(key);
          },
          in -> {
            TypeCode.expect(in, TypeCode.TEXT);
            return in.readTerminatedUtf8();
          });

  private static final KeyCodec<byte[]> BYTES =
      new Element<>("bytes", Keys::writeBytes, Keys::readBytes);

  private static final KeyCodec<Boolean> BOOLEANS =
      new Element<>(
          "boolean",
          (key, out) -> out.writeByte(key ? TypeCode.TRUE : TypeCode.FALSE),
          Keys::readBoolean);

  private static final KeyCodec<Float> FLOATS =
      new Element<>("float", Keys::writeFloat, Keys::readFloat);

  private static final KeyCodec<Double> DOUBLES =
      new Element<>("double", Keys::writeDouble, Keys::readDouble);

  private static final KeyCodec<UUID> UUIDS =
      new Element<>(
          "UUID",
          (key, out) -> {
            out.writeByte(TypeCode.UUID);
            out.writeLong(key.getMostSignificantBits());
            out.writeLong(key.getLeastSignificantBits());
          },
          in -> {
            TypeCode.expect(in, TypeCode.UUID);
            long most = in.readLong();
            return new UUID(most, in.readLong());
          });

  private static final KeyCodec<Instant> INSTANTS =
      new Element<>("instant", Keys::writeInstant, Keys::readInstant);

  private static final KeyCodec<LocalDate> LOCAL_DATES =
      new Element<>(
          "local date",
          (key, out) -> Integers.write(key.toEpochDay(), out),
          in -> LocalDate.ofEpochDay(Integers.read(in)));

  private Keys() {}

  /**
   * Signed integers of 64 bits, negative ones first.
   *
   * @return a codec; 1 to 9 bytes
   */
  public static KeyCodec<Long> longs() {
    return LONGS;
  }

  /**
   * Signed integers of 32 bits, negative ones first. Their bytes are those of {@link #longs}.
   *
   * @return a codec; 1 to 5 bytes
   */
  public static KeyCodec<Integer> ints() {
    return INTS;
  }

  /**
   * Integers of 64 bits without a sign: -1 is the largest one.
   *
   * @return a codec; 1 to 9 bytes
   */
  public static KeyCodec<Long> unsignedLongs() {
    return UNSIGNED_LONGS;
  }

  /**
   * Integers of 32 bits without a sign: -1 is the largest one.
   *
   * @return a codec; 1 to 5 bytes
   */
  public static KeyCodec<Integer> unsignedInts() {
    return UNSIGNED_INTS;
  }

  /**
   * Integers of up to 255 bytes.
   *
   * @return a codec; the bytes of small ones are those of {@link #longs}
   */
  public static KeyCodec<BigInteger> bigIntegers() {
    return BIG_INTEGERS;
  }

  /**
   * Decimal numbers in the order of {@link BigDecimal#compareTo}. So 1.0 and 1.00 are the same key,
   * and it is read as 1, without zeros at the end.
   *
   * @return a codec; a byte for two digits, and four to thirteen
   */
  public static KeyCodec<BigDecimal> bigDecimals() {
    return BIG_DECIMALS;
  }

  /**
   * Texts in the order of their code points, which is that of their UTF-8. {@link String#compareTo}
   * has another order for characters above FFFF.
   *
   * @return a codec; it throws {@link IllegalArgumentException} for half of a surrogate pair
   */
  public static KeyCodec<String> strings() {
    return STRINGS;
  }

  /**
   * Texts in the order of a language, then in that of their code points. The key contains the
   * {@link java.text.CollationKey} of the text, and the text.
   *
   * <p>Collators have no stable rules: another version of the JDK can order texts in another way,
   * and finds keys of the former version no more. Then copy the table. {@link #strings} does not
   * change.
   *
   * @param collator the order; copied
   * @return a codec; a key has about three to four times the bytes of the text
   */
  public static KeyCodec<String> collated(Collator collator) {
    Collator own = (Collator) collator.clone();
    return new Element<>(
        "collated string",
        (key, out) -> {
          out.writeByte(TypeCode.NESTED);
          writeBytes(own.getCollationKey(key).toByteArray(), out);
          STRINGS.encode(key, out);
          out.writeByte(0);
        },
        in -> {
          TypeCode.expect(in, TypeCode.NESTED);
          var _ = readBytes(in);
          String key = STRINGS.decode(in);
          TypeCode.expect(in, 0);
          return key;
        });
  }

  /**
   * Arrays of bytes, compared as unsigned numbers from left to right. Can be part of a tuple.
   *
   * @return a codec; two bytes more than the array, and one for each zero
   */
  public static KeyCodec<byte[]> bytes() {
    return BYTES;
  }

  /**
   * Arrays of bytes as they are, for tables that were written with arrays. They cannot be part of a
   * tuple or an index, and an empty one is no key.
   *
   * @return a codec
   */
  public static KeyCodec<byte[]> rawBytes() {
    return RawBytes.INSTANCE;
  }

  /**
   * False, then true.
   *
   * @return a codec; one byte
   */
  public static KeyCodec<Boolean> booleans() {
    return BOOLEANS;
  }

  /**
   * Floats in the order of {@link Float#compare}: -0.0 is before 0.0, and NaN is the last one.
   *
   * @return a codec; five bytes
   */
  public static KeyCodec<Float> floats() {
    return FLOATS;
  }

  /**
   * Doubles in the order of {@link Double#compare}: -0.0 is before 0.0, and NaN is the last one.
   *
   * @return a codec; nine bytes
   */
  public static KeyCodec<Double> doubles() {
    return DOUBLES;
  }

  /**
   * UUIDs in the order of their bytes, which is that of their text. {@link UUID#compareTo} has
   * another order, with signs.
   *
   * @return a codec; 17 bytes
   */
  public static KeyCodec<UUID> uuids() {
    return UUIDS;
  }

  /**
   * Instants. The key is an integer, the nanoseconds since 1970 in UTC.
   *
   * @return a codec; nine bytes for the years 1971 to 2262
   */
  public static KeyCodec<Instant> instants() {
    return INSTANTS;
  }

  /**
   * Dates. The key is an integer, the days since 1970-01-01.
   *
   * @return a codec; three bytes for the years 1971 to 2149
   */
  public static KeyCodec<LocalDate> localDates() {
    return LOCAL_DATES;
  }

  /**
   * Keys that may be null. Null is before all others.
   *
   * @param codec of the keys that are not null
   * @param <K> type of the keys
   * @return a codec
   * @throws IllegalArgumentException if it is {@link #rawBytes}
   */
  public static <K> KeyCodec<@Nullable K> nullable(KeyCodec<K> codec) {
    return new OrNull<>(codec.asPart());
  }

  /**
   * Keys of two parts, ordered by the first part, then by the next ones.
   *
   * @param first codec of the first part
   * @param second codec of the second part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @return a codec
   * @throws IllegalArgumentException if a part is {@link #rawBytes}
   */
  public static <A extends @Nullable Object, B extends @Nullable Object> Tuple2.Codec<A, B> tuple(
      KeyCodec<A> first, KeyCodec<B> second) {
    return new Tuple2.Codec<>(first, second);
  }

  /**
   * Keys of three parts, ordered by the first part, then by the next ones.
   *
   * @param first codec of the first part
   * @param second codec of the second part
   * @param third codec of the third part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @return a codec
   * @throws IllegalArgumentException if a part is {@link #rawBytes}
   */
  public static <A extends @Nullable Object, B extends @Nullable Object, C extends @Nullable Object>
      Tuple3.Codec<A, B, C> tuple(KeyCodec<A> first, KeyCodec<B> second, KeyCodec<C> third) {
    return new Tuple3.Codec<>(first, second, third);
  }

  /**
   * Keys of four parts, ordered by the first part, then by the next ones.
   *
   * @param first codec of the first part
   * @param second codec of the second part
   * @param third codec of the third part
   * @param fourth codec of the fourth part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @return a codec
   * @throws IllegalArgumentException if a part is {@link #rawBytes}
   */
  public static <
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object>
      Tuple4.Codec<A, B, C, D> tuple(
          KeyCodec<A> first, KeyCodec<B> second, KeyCodec<C> third, KeyCodec<D> fourth) {
    return new Tuple4.Codec<>(first, second, third, fourth);
  }

  /**
   * Keys of five parts, ordered by the first part, then by the next ones.
   *
   * @param first codec of the first part
   * @param second codec of the second part
   * @param third codec of the third part
   * @param fourth codec of the fourth part
   * @param fifth codec of the fifth part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @param <E> type of the fifth part
   * @return a codec
   * @throws IllegalArgumentException if a part is {@link #rawBytes}
   */
  public static <
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object,
          E extends @Nullable Object>
      Tuple5.Codec<A, B, C, D, E> tuple(
          KeyCodec<A> first,
          KeyCodec<B> second,
          KeyCodec<C> third,
          KeyCodec<D> fourth,
          KeyCodec<E> fifth) {
    return new Tuple5.Codec<>(first, second, third, fourth, fifth);
  }

  /**
   * Keys of six parts, ordered by the first part, then by the next ones.
   *
   * @param first codec of the first part
   * @param second codec of the second part
   * @param third codec of the third part
   * @param fourth codec of the fourth part
   * @param fifth codec of the fifth part
   * @param sixth codec of the sixth part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @param <E> type of the fifth part
   * @param <F> type of the sixth part
   * @return a codec
   * @throws IllegalArgumentException if a part is {@link #rawBytes}
   */
  public static <
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object,
          E extends @Nullable Object,
          F extends @Nullable Object>
      Tuple6.Codec<A, B, C, D, E, F> tuple(
          KeyCodec<A> first,
          KeyCodec<B> second,
          KeyCodec<C> third,
          KeyCodec<D> fourth,
          KeyCodec<E> fifth,
          KeyCodec<F> sixth) {
    return new Tuple6.Codec<>(first, second, third, fourth, fifth, sixth);
  }

  /**
   * Keys of seven parts, ordered by the first part, then by the next ones.
   *
   * @param first codec of the first part
   * @param second codec of the second part
   * @param third codec of the third part
   * @param fourth codec of the fourth part
   * @param fifth codec of the fifth part
   * @param sixth codec of the sixth part
   * @param seventh codec of the seventh part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @param <E> type of the fifth part
   * @param <F> type of the sixth part
   * @param <G> type of the seventh part
   * @return a codec
   * @throws IllegalArgumentException if a part is {@link #rawBytes}
   */
  public static <
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object,
          E extends @Nullable Object,
          F extends @Nullable Object,
          G extends @Nullable Object>
      Tuple7.Codec<A, B, C, D, E, F, G> tuple(
          KeyCodec<A> first,
          KeyCodec<B> second,
          KeyCodec<C> third,
          KeyCodec<D> fourth,
          KeyCodec<E> fifth,
          KeyCodec<F> sixth,
          KeyCodec<G> seventh) {
    return new Tuple7.Codec<>(first, second, third, fourth, fifth, sixth, seventh);
  }

  /**
   * Keys of eight parts, ordered by the first part, then by the next ones.
   *
   * @param first codec of the first part
   * @param second codec of the second part
   * @param third codec of the third part
   * @param fourth codec of the fourth part
   * @param fifth codec of the fifth part
   * @param sixth codec of the sixth part
   * @param seventh codec of the seventh part
   * @param eighth codec of the eighth part
   * @param <A> type of the first part
   * @param <B> type of the second part
   * @param <C> type of the third part
   * @param <D> type of the fourth part
   * @param <E> type of the fifth part
   * @param <F> type of the sixth part
   * @param <G> type of the seventh part
   * @param <H> type of the eighth part
   * @return a codec
   * @throws IllegalArgumentException if a part is {@link #rawBytes}
   */
  public static <
          A extends @Nullable Object,
          B extends @Nullable Object,
          C extends @Nullable Object,
          D extends @Nullable Object,
          E extends @Nullable Object,
          F extends @Nullable Object,
          G extends @Nullable Object,
          H extends @Nullable Object>
      Tuple8.Codec<A, B, C, D, E, F, G, H> tuple(
          KeyCodec<A> first,
          KeyCodec<B> second,
          KeyCodec<C> third,
          KeyCodec<D> fourth,
          KeyCodec<E> fifth,
          KeyCodec<F> sixth,
          KeyCodec<G> seventh,
          KeyCodec<H> eighth) {
    return new Tuple8.Codec<>(first, second, third, fourth, fifth, sixth, seventh, eighth);
  }

  private static void writeBytes(byte[] key, ByteWriter out) {
    out.writeByte(TypeCode.BYTES);
    for (byte value : key) {
      out.writeByte(value);
      if (value == 0) {
        out.writeByte(TypeCode.NEVER);
      }
    }
    out.writeByte(0);
  }

  private static byte[] readBytes(ByteReader in) {
    TypeCode.expect(in, TypeCode.BYTES);
    return in.readTerminatedBytes();
  }

  private static boolean readBoolean(ByteReader in) {
    int code = in.readByte();
    if (code != TypeCode.TRUE && code != TypeCode.FALSE) {
      throw TypeCode.unexpected(code);
    }
    return code == TypeCode.TRUE;
  }

  private static void writeFloat(float key, ByteWriter out) {
    int bits = Float.floatToIntBits(key);
    out.writeByte(TypeCode.FLOAT);
    out.writeInt(bits < 0 ? ~bits : bits ^ Integer.MIN_VALUE);
  }

  private static float readFloat(ByteReader in) {
    TypeCode.expect(in, TypeCode.FLOAT);
    int bits = in.readInt();
    return Float.intBitsToFloat(bits < 0 ? bits ^ Integer.MIN_VALUE : ~bits);
  }

  private static void writeDouble(double key, ByteWriter out) {
    long bits = Double.doubleToLongBits(key);
    out.writeByte(TypeCode.DOUBLE);
    out.writeLong(bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
  }

  private static double readDouble(ByteReader in) {
    TypeCode.expect(in, TypeCode.DOUBLE);
    long bits = in.readLong();
    return Double.longBitsToDouble(bits < 0 ? bits ^ Long.MIN_VALUE : ~bits);
  }

  private static void writeInstant(Instant key, ByteWriter out) {
    long seconds = key.getEpochSecond();
    int nano = key.getNano();
    if (Math.abs(seconds) < Long.MAX_VALUE / NANOS - 1) {
      Integers.write(seconds * NANOS + nano, out);
    } else {
      BigInteger nanos = BigInteger.valueOf(seconds).multiply(BigInteger.valueOf(NANOS));
      Integers.write(nanos.add(BigInteger.valueOf(nano)), out);
    }
  }

  private static Instant readInstant(ByteReader in) {
    BigInteger nanos = Integers.readBig(in);
    if (nanos.bitLength() < Long.SIZE) {
      long small = nanos.longValue();
      return Instant.ofEpochSecond(Math.floorDiv(small, NANOS), Math.floorMod(small, NANOS));
    }
    BigInteger second = BigInteger.valueOf(NANOS);
    BigInteger nano = nanos.mod(second);
    return Instant.ofEpochSecond(
        nanos.subtract(nano).divide(second).longValueExact(), nano.longValue());
  }
}
