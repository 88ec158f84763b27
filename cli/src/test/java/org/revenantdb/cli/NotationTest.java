package org.revenantdb.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.KeyCodec;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.Tuple2;
import org.revenantdb.collections.Tuple3;

/** Bytes as they are shown and typed. */
class NotationTest {
  private static final long SEED = Long.getLong("revenant.seed", System.nanoTime());

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @EnumSource
  void what_is_shown_can_be_typed_and_names_the_same_bytes(Notation notation) {
    Random random = new Random(SEED);
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = bytes(random);
      String shown = notation.show(bytes);
      assertArrayEquals(bytes, notation.read(shown), () -> "seed " + SEED + ": " + shown);
      assertTrue(shown.chars().noneMatch(Character::isISOControl), () -> "seed " + SEED);
    }
  }

  /** Bytes of all kinds: noise, text, text with noise in it, elements of tuples. */
  private static byte[] bytes(Random random) {
    byte[] noise = new byte[random.nextInt(12)];
    random.nextBytes(noise);
    String text =
        random
            .ints(random.nextInt(6), 0, 0x300)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    ByteWriter out = new ByteWriter();
    switch (random.nextInt(5)) {
      case 0 -> out.writeBytes(noise);
      case 1 -> out.writeBytes(utf8(text));
      case 2 -> {
        out.writeBytes(utf8(text));
        out.writeBytes(noise);
      }
      case 3 -> out.writeBytes(utf8("0x" + random.nextInt(3)));
      default -> {
        Keys.strings().encode(text, out);
        Keys.longs().encode(random.nextLong() >> random.nextInt(64), out);
        Keys.bytes().encode(noise, out);
      }
    }
    return out.toByteArray();
  }

  @Test
  void text_is_shown_as_text_and_all_else_in_hexadecimal() {
    assertEquals("order 4711", Notation.AUTO.show(utf8("order 4711")));
    assertEquals("Straße", Notation.AUTO.show(utf8("Straße")));
    assertEquals("0x00ff", Notation.AUTO.show(new byte[] {0, -1}));
    assertEquals("0x3078", Notation.AUTO.show(utf8("0x")));
    assertEquals("a\\00b", Notation.TEXT.show(new byte[] {'a', 0, 'b'}));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0x0", "0xzz"})
  void wrong_hexadecimal_is_refused(String text) {
    assertThrows(NotationException.class, () -> Notation.AUTO.read(text));
  }

  @Test
  void an_escape_that_is_none_is_refused_with_its_place() {
    String told =
        assertThrows(NotationException.class, () -> Notation.TEXT.read("ab\\q")).getMessage();
    assertTrue(told.contains("character 3"), told);
  }

  // --------------------------------------------------------------------------------- tuples

  private static <K> void assertShown(String text, KeyCodec<K> codec, K key) {
    ByteWriter out = new ByteWriter();
    codec.encode(key, out);
    assertEquals(text, Notation.TUPLE.show(out.toByteArray()));
    assertArrayEquals(out.toByteArray(), Notation.TUPLE.read(text), text);
  }

  @Test
  void keys_of_typed_tables_are_shown_by_their_parts() {
    assertShown("-12", Keys.longs(), -12L);
    assertShown("\"a\\\"b\"", Keys.strings(), "a\"b");
    assertShown("1.5", Keys.doubles(), 1.5);
    assertShown("1.5f", Keys.floats(), 1.5f);
    assertShown("1.5m", Keys.bigDecimals(), new BigDecimal("1.5"));
    assertShown("true", Keys.booleans(), true);
    assertShown("0x00ff", Keys.bytes(), new byte[] {0, -1});
    assertShown(
        "123e4567-e89b-12d3-a456-426614174000",
        Keys.uuids(),
        UUID.fromString("123e4567-e89b-12d3-a456-426614174000"));
    assertShown(
        "123456789012345678901234567890",
        Keys.bigIntegers(),
        new BigInteger("123456789012345678901234567890"));
    assertShown(
        "(\"Berlin\", 4711)",
        Keys.tuple(Keys.strings(), Keys.longs()),
        new Tuple2<>("Berlin", 4711L));
    assertShown(
        "(null, desc(\"x\"), (1, null))",
        Keys.tuple(
            Keys.nullable(Keys.longs()),
            Keys.strings().descending(),
            Keys.tuple(Keys.longs(), Keys.nullable(Keys.strings()))),
        new Tuple3<>(null, "x", new Tuple2<>(1L, null)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"(1, 2", "\"open", "(1 2)", "nonsense", "1 2", "", "desc(1", "0xabc", "bytes(0x0"})
  void what_is_no_tuple_is_refused_with_its_place(String text) {
    String told =
        assertThrows(NotationException.class, () -> Notation.TUPLE.read(text)).getMessage();
    assertTrue(told.contains("at character") || told.contains("hexadecimal"), told);
  }
}
