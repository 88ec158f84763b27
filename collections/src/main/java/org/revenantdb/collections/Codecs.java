package org.revenantdb.collections;

import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.revenantdb.collections.value.Simple;

/**
 * Codecs of values. All are thread-safe. None uses Java serialization.
 *
 * <p>Numbers have a fixed length, and the highest byte comes first. The classes of other libraries
 * are adapted by {@link Codec#of} or by the streams of {@link ByteWriter} and {@link ByteReader}.
 */
public final class Codecs {
  private static final Codec<String> STRINGS =
      new Simple<>(
          "string", (value, out) -> out.writeUtf8(value), in -> in.readUtf8(in.remaining()));

  private static final Codec<byte[]> BYTES =
      new Simple<>(
          "bytes", (value, out) -> out.writeBytes(value), in -> in.readBytes(in.remaining()));

  private static final Codec<Boolean> BOOLEANS =
      new Simple<>(
          "boolean", (value, out) -> out.writeByte(value ? 1 : 0), in -> in.readByte() != 0);

  private static final Codec<Integer> INTS =
      new Simple<>("int", (value, out) -> out.writeInt(value), ByteReader::readInt);

  private static final Codec<Long> LONGS =
      new Simple<>("long", (value, out) -> out.writeLong(value), ByteReader::readLong);

  private static final Codec<Float> FLOATS =
      new Simple<>(
          "float",
          (value, out) -> out.writeInt(Float.floatToRawIntBits(value)),
          in -> Float.intBitsToFloat(in.readInt()));

  private static final Codec<Double> DOUBLES =
      new Simple<>(
          "double",
          (value, out) -> out.writeLong(Double.doubleToRawLongBits(value)),
          in -> Double.longBitsToDouble(in.readLong()));

  private static final Codec<UUID> UUIDS = ofKeys(Keys.uuids());
  private static final Codec<Instant> INSTANTS = ofKeys(Keys.instants());
  private static final Codec<LocalDate> LOCAL_DATES = ofKeys(Keys.localDates());

  private static final Codec<BigInteger> BIG_INTEGERS =
      new Simple<>(
          "big integer",
          (value, out) -> out.writeBytes(value.toByteArray()),
          in -> new BigInteger(in.readBytes(in.remaining())));

  private static final Codec<BigDecimal> BIG_DECIMALS =
      new Simple<>(
          "big decimal",
          (value, out) -> {
            out.writeInt(value.scale());
            out.writeBytes(value.unscaledValue().toByteArray());
          },
          in -> {
            int scale = in.readInt();
            return new BigDecimal(new BigInteger(in.readBytes(in.remaining())), scale);
          });

  private Codecs() {}

  /**
   * Texts in UTF-8.
   *
   * @return a codec; it refuses a text with half of a surrogate pair
   */
  public static Codec<String> strings() {
    return STRINGS;
  }

  /**
   * Arrays of bytes as they are.
   *
   * @return a codec
   */
  public static Codec<byte[]> bytes() {
    return BYTES;
  }

  /**
   * Booleans in one byte.
   *
   * @return a codec
   */
  public static Codec<Boolean> booleans() {
    return BOOLEANS;
  }

  /**
   * Integers in four bytes.
   *
   * @return a codec
   */
  public static Codec<Integer> ints() {
    return INTS;
  }

  /**
   * Integers in eight bytes.
   *
   * @return a codec
   */
  public static Codec<Long> longs() {
    return LONGS;
  }

  /**
   * Floats in four bytes.
   *
   * @return a codec
   */
  public static Codec<Float> floats() {
    return FLOATS;
  }

  /**
   * Doubles in eight bytes.
   *
   * @return a codec
   */
  public static Codec<Double> doubles() {
    return DOUBLES;
  }

  /**
   * UUIDs in 17 bytes.
   *
   * @return a codec
   */
  public static Codec<UUID> uuids() {
    return UUIDS;
  }

  /**
   * Instants, as {@link Keys#instants} writes them.
   *
   * @return a codec
   */
  public static Codec<Instant> instants() {
    return INSTANTS;
  }

  /**
   * Dates, as {@link Keys#localDates} writes them.
   *
   * @return a codec
   */
  public static Codec<LocalDate> localDates() {
    return LOCAL_DATES;
  }

  /**
   * Integers of any size.
   *
   * @return a codec
   */
  public static Codec<BigInteger> bigIntegers() {
    return BIG_INTEGERS;
  }

  /**
   * Decimal numbers with their scale: 1.00 is read as 1.00.
   *
   * @return a codec
   */
  public static Codec<BigDecimal> bigDecimals() {
    return BIG_DECIMALS;
  }

  /**
   * Values with the bytes of keys.
   *
   * @param codec of the keys
   * @param <V> their type
   * @return a codec
   */
  public static <V> Codec<V> ofKeys(KeyCodec<V> codec) {
    Objects.requireNonNull(codec, "codec must not be null");
    return new Simple<>(codec.toString(), codec::encode, codec::decode);
  }

  /**
   * Records of a type, with schema version 1. The record is public in an exported package, or its
   * package is open to {@code org.revenantdb.collections}, or it belongs to no module.
   *
   * @param type the type
   * @param <R> the type
   * @return a codec
   * @throws IllegalArgumentException if the record is not accessible, or a component has a type
   *     that has no codec
   */
  public static <R extends Record> RecordCodec<R> records(Class<R> type) {
    Objects.requireNonNull(type, "type must not be null");
    return new RecordCodec<>(type, null, 1, Map.of(), Map.of());
  }

  /**
   * Records of a type that a lookup has access to, with schema version 1.
   *
   * @param lookup {@link MethodHandles#lookup} of a class that can use the record
   * @param type the type
   * @param <R> the type
   * @return a codec
   * @throws IllegalArgumentException if the record is not accessible, or a component has a type
   *     that has no codec
   */
  public static <R extends Record> RecordCodec<R> records(
      MethodHandles.Lookup lookup, Class<R> type) {
    Objects.requireNonNull(lookup, "lookup must not be null");
    Objects.requireNonNull(type, "type must not be null");
    return new RecordCodec<>(type, lookup, 1, Map.of(), Map.of());
  }

  /**
   * Records with components of types that have no codec of their own, with schema version 1.
   *
   * @param lookup {@link MethodHandles#lookup} of a class that can use the record
   * @param type the type
   * @param components codecs of components by their class; also for those that would have one
   * @param <R> the type
   * @return a codec
   * @throws IllegalArgumentException if the record is not accessible, or a component has a type
   *     that has no codec
   */
  public static <R extends Record> RecordCodec<R> records(
      MethodHandles.Lookup lookup, Class<R> type, Map<Class<?>, Codec<?>> components) {
    Objects.requireNonNull(lookup, "lookup must not be null");
    Objects.requireNonNull(type, "type must not be null");
    return new RecordCodec<>(type, lookup, 1, Map.copyOf(components), Map.of());
  }
}
