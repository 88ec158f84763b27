package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigInteger;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bytes of elements are those that FoundationDB publishes: the test cases of design/tuple.md,
 * and the data of TupleSerializationTest and TuplePackingTest of its Java binding (Apache License
 * 2.0), for the types that we have.
 */
class TupleVectorsTest {
  private static final BigInteger TWO_64 = BigInteger.ONE.shiftLeft(64);
  private static final BigInteger MIN = BigInteger.valueOf(Long.MIN_VALUE);

  static Stream<Arguments> vectors() {
    KeyCodec<Long> longs = Keys.longs();
    KeyCodec<BigInteger> bigs = Keys.bigIntegers();
    return Stream.of(
        of(longs, 0L, "14"),
        of(longs, 1L, "1501"),
        of(longs, -1L, "13fe"),
        of(longs, 255L, "15ff"),
        of(longs, -255L, "1300"),
        of(longs, 256L, "160100"),
        of(longs, -256L, "12feff"),
        of(longs, 65536L, "17010000"),
        of(longs, -65536L, "11feffff"),
        of(longs, -5551212L, "11ab4b93"),
        of(longs, 0x3019L, "163019"),
        of(longs, Long.MAX_VALUE, "1c7fffffffffffffff"),
        of(longs, -((1L << 32) - 1), "1000000000"),
        of(longs, Long.MIN_VALUE + 2, "0c8000000000000001"),
        of(longs, Long.MIN_VALUE + 1, "0c8000000000000000"),
        of(longs, Long.MIN_VALUE, "0c7fffffffffffffff"),
        of(Keys.ints(), 3, "1503"),
        of(Keys.ints(), -5551212, "11ab4b93"),
        of(Keys.unsignedLongs(), Long.MIN_VALUE, "1c8000000000000000"),
        of(Keys.unsignedLongs(), -1L, "1cffffffffffffffff"),
        of(bigs, BigInteger.ZERO, "14"),
        of(bigs, BigInteger.ONE, "1501"),
        of(bigs, BigInteger.ONE.negate(), "13fe"),
        of(bigs, BigInteger.valueOf(255), "15ff"),
        of(bigs, BigInteger.valueOf(-255), "1300"),
        of(bigs, BigInteger.valueOf(256), "160100"),
        of(bigs, BigInteger.valueOf(-256), "12feff"),
        of(bigs, BigInteger.valueOf(Long.MAX_VALUE), "1c7fffffffffffffff"),
        of(bigs, MIN.negate(), "1c8000000000000000"),
        of(bigs, TWO_64.subtract(BigInteger.ONE), "1cffffffffffffffff"),
        of(bigs, TWO_64, "1d09010000000000000000"),
        of(bigs, MIN.add(BigInteger.ONE), "0c8000000000000000"),
        of(bigs, MIN, "0c7fffffffffffffff"),
        of(bigs, MIN.subtract(BigInteger.ONE), "0c7ffffffffffffffe"),
        of(bigs, BigInteger.ONE.subtract(TWO_64), "0c0000000000000000"),
        of(Keys.floats(), 3.14f, "20c048f5c3"),
        of(Keys.floats(), -3.14f, "203fb70a3c"),
        of(Keys.floats(), -42f, "203dd7ffff"),
        of(Keys.floats(), 0.0f, "2080000000"),
        of(Keys.floats(), -0.0f, "207fffffff"),
        of(Keys.floats(), Float.POSITIVE_INFINITY, "20ff800000"),
        of(Keys.floats(), Float.NEGATIVE_INFINITY, "20007fffff"),
        of(Keys.doubles(), 3.14, "21c0091eb851eb851f"),
        of(Keys.doubles(), -3.14, "213ff6e147ae147ae0"),
        of(Keys.doubles(), 0.0, "218000000000000000"),
        of(Keys.doubles(), -0.0, "217fffffffffffffff"),
        of(Keys.doubles(), Double.POSITIVE_INFINITY, "21fff0000000000000"),
        of(Keys.doubles(), Double.NEGATIVE_INFINITY, "21000fffffffffffff"),
        of(Keys.bytes(), new byte[0], "0100"),
        of(Keys.bytes(), new byte[] {1, 2, 3}, "0101020300"),
        of(Keys.bytes(), new byte[] {0, 0, 0, 4}, "0100ff00ff00ff0400"),
        of(Keys.bytes(), "foo\0bar".getBytes(), "01666f6f00ff62617200"),
        of(Keys.strings(), "", "0200"),
        of(Keys.strings(), "hello", "0268656c6c6f00"),
        of(Keys.strings(), "F\u00d4O\0bar", "0246c3944f00ff62617200"),
        of(Keys.strings(), "\u4e2d\u6587", "02e4b8ade6968700"),
        of(Keys.strings(), "\u03bc\u03ac\u03b8\u03b7\u03bc\u03b1", "02cebcceacceb8ceb7cebcceb100"),
        of(Keys.strings(), "\ud83d\udd25", "02f09f94a500"),
        of(Keys.strings(), "\ud83e\udd6f", "02f09fa5af00"),
        of(Keys.strings(), "\ud83e\udda5", "02f09fa6a500"),
        of(Keys.strings(), "\udbff\udfff", "02f48fbfbf00"),
        of(Keys.uuids(), new UUID(0xba5eba11, 0x5ca1ab1e), "30ffffffffba5eba11000000005ca1ab1e"),
        of(Keys.booleans(), false, "26"),
        of(Keys.booleans(), true, "27"),
        of(Keys.nullable(Keys.longs()), null, "00"),
        of(nested(), Tuple2.of(null, "hello"), "0500ff0268656c6c6f0000"),
        of(nested(), Tuple2.of(null, "hell\0"), "0500ff0268656c6c00ff0000"),
        of(
            Keys.tuple(nested(), Keys.strings(), Keys.bytes()),
            Tuple3.of(Tuple2.of(null, "hello"), "hello", new byte[] {1, 0}),
            "0500ff0268656c6c6f0000" + "0268656c6c6f00" + "010100ff00"));
  }

  private static KeyCodec<Tuple2<byte[], String>> nested() {
    return Keys.tuple(Keys.nullable(Keys.bytes()), Keys.strings()).asPart();
  }

  private static <K> Arguments of(KeyCodec<K> codec, K key, String hex) {
    return Arguments.of(codec, key, hex);
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void a_key_has_the_published_bytes_and_is_read_from_them(
      KeyCodec<Object> codec, Object key, String hex) {
    assertEquals(hex, HexFormat.of().formatHex(codec.toBytes(key)));
    Object read = codec.fromBytes(HexFormat.of().parseHex(hex));
    if (key instanceof byte[] bytes) {
      assertArrayEquals(bytes, (byte[]) read);
    } else if (!(key instanceof Tuple3)) { // it has an array
      assertEquals(key, read);
    }
  }

  /** We write one NaN, and read all of them. */
  @ParameterizedTest
  @ValueSource(strings = {"20ffffffff", "2000000000", "20ffc00000"})
  void each_nan_is_read(String hex) {
    float read = Keys.floats().fromBytes(HexFormat.of().parseHex(hex));
    assertEquals(Float.NaN, read);
    assertEquals("20ffc00000", HexFormat.of().formatHex(Keys.floats().toBytes(read)));
  }

  static Stream<Arguments> malformed() {
    return Stream.of(
        Arguments.of(Keys.bytes(), "01deadc0de"),
        Arguments.of(Keys.bytes(), "01dead00ffc0de"),
        Arguments.of(Keys.strings(), "0268656c6c6f"),
        Arguments.of(Keys.strings(), "0268656c00ff6c6f"),
        Arguments.of(Keys.strings(), "02757466088000"),
        Arguments.of(Keys.strings(), "0275746608c00100"),
        Arguments.of(Keys.strings(), "0275746610eda0bd00"),
        Arguments.of(Keys.strings(), "0275746610edb4a500"),
        Arguments.of(Keys.strings(), "0275746610eda0bdedb4a500"),
        Arguments.of(nested(), "050268656c6c6f00"),
        Arguments.of(nested(), "050268656c6c6f0000ff02746865726500"),
        Arguments.of(Keys.longs(), "1601"),
        Arguments.of(Keys.longs(), "1201"),
        Arguments.of(Keys.bigIntegers(), "1d090102030405060708"),
        Arguments.of(Keys.bigIntegers(), "0bf60102030405060708"),
        Arguments.of(Keys.floats(), "20010203"),
        Arguments.of(Keys.doubles(), "2101020304050607"),
        Arguments.of(Keys.uuids(), "300102030405060708090a0b0c0d0e"),
        Arguments.of(Keys.booleans(), "ff"));
  }

  @ParameterizedTest
  @MethodSource("malformed")
  void bytes_that_are_published_as_malformed_are_refused(KeyCodec<?> codec, String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    assertThrows(IllegalArgumentException.class, () -> codec.fromBytes(bytes));
  }

  @Test
  void a_number_out_of_the_range_of_its_codec_is_refused() {
    byte[] above = Keys.unsignedLongs().toBytes(-1L);
    byte[] below = Keys.bigIntegers().toBytes(MIN.subtract(BigInteger.ONE));
    byte[] large = Keys.longs().toBytes(1L << 32);
    byte[] negative = Keys.longs().toBytes(-1L);
    assertThrows(IllegalArgumentException.class, () -> Keys.longs().fromBytes(above));
    assertThrows(IllegalArgumentException.class, () -> Keys.longs().fromBytes(below));
    for (KeyCodec<Integer> codec : List.of(Keys.ints(), Keys.unsignedInts())) {
      assertThrows(IllegalArgumentException.class, () -> codec.fromBytes(large));
    }
    assertThrows(IllegalArgumentException.class, () -> Keys.unsignedInts().fromBytes(negative));
    assertThrows(IllegalArgumentException.class, () -> Keys.unsignedLongs().fromBytes(negative));
  }

  @Test
  void half_of_a_surrogate_pair_is_refused() {
    for (String text : List.of("\ud800", "a\ud800b", "\udc00", "\udc00\ud800")) {
      assertThrows(IllegalArgumentException.class, () -> Keys.strings().toBytes(text));
    }
  }

  @Test
  void raw_bytes_cannot_be_part_of_a_tuple() {
    assertThrows(IllegalArgumentException.class, () -> Keys.tuple(Keys.rawBytes(), Keys.longs()));
    assertThrows(IllegalArgumentException.class, () -> Keys.nullable(Keys.rawBytes()));
  }
}
