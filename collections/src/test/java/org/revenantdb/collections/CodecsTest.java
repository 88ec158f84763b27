package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Values are read as they were written; records also after their type has changed. */
class CodecsTest {
  record Address(String street, int number) {}

  record Everything(
      boolean truth,
      byte small,
      short shorter,
      char letter,
      int number,
      long longer,
      float single,
      double twice,
      Boolean boxedTruth,
      Long boxed,
      String text,
      byte[] bytes,
      UUID id,
      Instant at,
      Duration took,
      LocalDate day,
      BigInteger big,
      BigDecimal exact,
      DayOfWeek weekday,
      Address home,
      List<Address> others,
      Set<String> tags,
      Map<String, Integer> counts) {}

  private static <V> V copy(Codec<V> codec, V value) {
    return codec.decode(new ByteReader(bytes(codec, value)));
  }

  private static <V> byte[] bytes(Codec<V> codec, V value) {
    ByteWriter out = new ByteWriter();
    codec.encode(value, out);
    return out.toByteArray();
  }

  private static <V> void assertCopied(Codec<V> codec, V value) {
    assertEquals(value, copy(codec, value));
  }

  @Test
  void a_reader_reads_a_part_of_an_array_and_nothing_around_it() {
    byte[] bytes = {9, 1, 'a', 'b', 0, 8};
    ByteReader in = new ByteReader(bytes).reset(bytes, 1, 4);
    assertEquals(0, in.position());
    assertEquals(4, in.remaining());
    assertEquals(1, in.readByte());
    assertEquals("ab", in.readTerminatedUtf8());
    assertEquals(4, in.position());
    assertEquals(-1, in.peek());
    assertEquals("ByteReader[4 of 4 bytes read]", in.toString());
    assertEquals(
        "the bytes end too early: 1 are needed after 4, and there are 0",
        assertThrows(IllegalArgumentException.class, in::readByte).getMessage());
    assertThrows(IndexOutOfBoundsException.class, () -> in.reset(bytes, 3, 4));
    assertEquals(2, in.reset(bytes, 2).remaining());
  }

  @Test
  void simple_values_are_read_as_they_were_written() {
    for (String text :
        List.of("", "a", "\0", "F\u00d4O", "\ud83d\udd25", "\ufffd", "x".repeat(500))) {
      assertCopied(Codecs.strings(), text);
      assertArrayEquals(text.getBytes(StandardCharsets.UTF_8), bytes(Codecs.strings(), text), text);
    }
    assertArrayEquals(new byte[] {1, 0, -1}, copy(Codecs.bytes(), new byte[] {1, 0, -1}));
    for (long number : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0x0102030405060708L}) {
      assertCopied(Codecs.longs(), number);
      assertCopied(Codecs.ints(), (int) number);
      assertCopied(Codecs.doubles(), Double.longBitsToDouble(number));
      assertCopied(Codecs.floats(), Float.intBitsToFloat((int) number));
      assertCopied(Codecs.bigIntegers(), BigInteger.valueOf(number).pow(3));
      assertCopied(Codecs.bigDecimals(), new BigDecimal(BigInteger.valueOf(number).pow(3), 7));
      assertCopied(Codecs.instants(), Instant.ofEpochMilli(number / 3));
      assertCopied(Codecs.uuids(), new UUID(number, ~number));
    }
    assertCopied(Codecs.booleans(), true);
    assertCopied(Codecs.booleans(), false);
    assertCopied(Codecs.localDates(), LocalDate.of(2026, 2, 28));
  }

  @Test
  void bytes_of_another_value_are_refused() {
    assertThrows(
        IllegalArgumentException.class, () -> Codecs.longs().decode(new ByteReader(new byte[7])));
    assertThrows(
        IllegalArgumentException.class, () -> Codecs.longs().decode(new ByteReader(new byte[9])));
    assertThrows(
        IllegalArgumentException.class,
        () -> Codecs.strings().decode(new ByteReader(new byte[] {(byte) 0xC0, 1})));
  }

  @Test
  void numbers_of_seven_bits_a_byte_are_read_as_they_were_written() {
    for (long number : new long[] {0, 1, 127, 128, 16_383, 16_384, Long.MAX_VALUE, -1}) {
      ByteWriter out = new ByteWriter();
      out.writeVarLong(number);
      assertEquals(number, new ByteReader(out.toByteArray()).readVarLong());
    }
  }

  @Test
  void a_record_is_read_with_all_its_components() {
    Everything full =
        new Everything(
            true,
            (byte) -3,
            (short) -300,
            'x',
            -70_000,
            1L << 40,
            1.5f,
            -2.5,
            false,
            7L,
            "t\u00e4xt",
            new byte[] {1, 2},
            new UUID(1, 2),
            Instant.ofEpochSecond(3, 4),
            Duration.ofMillis(-5),
            LocalDate.of(2026, 1, 2),
            BigInteger.TEN.pow(30),
            new BigDecimal("1.00"),
            DayOfWeek.FRIDAY,
            new Address("Main", 1),
            List.of(new Address("Side", 2), new Address("Back", 3)),
            Set.of("a", "b"),
            Map.of("c", 4));
    Everything read = copy(Codecs.records(Everything.class), full);
    assertArrayEquals(full.bytes(), read.bytes());
    assertEquals(withoutBytes(full), withoutBytes(read));
  }

  private static String withoutBytes(Everything it) {
    return it.toString().replaceAll("bytes=[^,]*,", "").replaceAll("tags=.[^]]*]", "")
        + Set.copyOf(it.tags());
  }

  @Test
  void components_that_are_no_primitives_may_be_null() {
    Everything none =
        new Everything(
            false, (byte) 0, (short) 0, 'x', 0, 0, 0, 0, null, null, null, null, null, null, null,
            null, null, null, null, null, null, null, null);
    Everything read = copy(Codecs.records(Everything.class), none);
    assertEquals(none, read);
    assertNull(read.home());
    record Names(List<String> all) {}
    Names names = new Names(Arrays.asList("a", null));
    assertEquals(names, copy(Codecs.records(Names.class), names));
  }

  record CustomerV1(String name) {}

  record Customer(String name, String city) {}

  @Test
  void a_former_version_is_upgraded() {
    byte[] former = bytes(Codecs.records(CustomerV1.class), new CustomerV1("Ada"));
    RecordCodec<Customer> codec =
        Codecs.records(Customer.class)
            .withVersion(2)
            .withFormer(1, CustomerV1.class, old -> new Customer(old.name(), "unknown"));
    assertEquals(new Customer("Ada", "unknown"), codec.decode(new ByteReader(former)));
    assertCopied(codec, new Customer("Bob", "Rome"));
    Exception refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> Codecs.records(Customer.class).withVersion(2).decode(new ByteReader(former)));
    assertTrue(refused.getMessage().contains("version 1"), refused::getMessage);
  }

  @Test
  void a_record_that_was_changed_without_another_version_is_refused() {
    byte[] former = bytes(Codecs.records(CustomerV1.class), new CustomerV1("Ada"));
    Exception refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> Codecs.records(Customer.class).decode(new ByteReader(former)));
    assertTrue(refused.getMessage().contains("another version"), refused::getMessage);
  }

  record Node(int value, Node next) {}

  record Odd(Thread thread) {}

  private record Hidden(int value) {}

  @Test
  void a_record_that_has_no_codec_is_refused_by_name() {
    Exception own = assertThrows(IllegalArgumentException.class, () -> Codecs.records(Node.class));
    assertTrue(own.getMessage().contains("Node"), own::getMessage);
    Exception odd = assertThrows(IllegalArgumentException.class, () -> Codecs.records(Odd.class));
    assertTrue(odd.getMessage().contains("java.lang.Thread"), odd::getMessage);
  }

  @Test
  void a_lookup_gives_access_to_a_record() {
    assertCopied(Codecs.records(MethodHandles.lookup(), Hidden.class), new Hidden(3));
    Exception refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> Codecs.records(MethodHandles.publicLookup(), Hidden.class));
    assertTrue(refused.getMessage().contains("MethodHandles.lookup()"), refused::getMessage);
  }

  @Test
  void a_component_can_have_a_codec_of_the_user() {
    record Zoned(java.time.ZoneId zone) {}
    Codec<java.time.ZoneId> zones =
        Codec.of(zone -> zone.getId().getBytes(), bytes -> java.time.ZoneId.of(new String(bytes)));
    assertCopied(
        Codecs.records(MethodHandles.lookup(), Zoned.class, Map.of(java.time.ZoneId.class, zones)),
        new Zoned(java.time.ZoneId.of("Europe/Berlin")));
  }

  /** Adapters for libraries with streams need three lines. */
  @Test
  void streams_write_and_read_a_value() throws Exception {
    ByteWriter out = new ByteWriter();
    out.asOutputStream().write("abc".getBytes());
    ByteReader in = new ByteReader(out.toByteArray());
    assertEquals("abc", new String(in.asInputStream().readAllBytes()));
    assertEquals(3, in.asByteBuffer().remaining());
  }
}
