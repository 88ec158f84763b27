package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.text.CollationKey;
import java.text.Collator;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The order of the bytes is the order of the keys, alone, reversed, as parts of tuples and of
 * tuples inside tuples; and each key is read as it was written. Edge values meet each other and
 * random ones. {@code -Drevenant.seed} repeats a run.
 */
class KeyOrderTest {
  private static final long SEED = Long.getLong("revenant.seed", new Random().nextLong());

  private static final int KEYS = Boolean.getBoolean("revenant.long") ? 3_000 : 150;

  /** A codec, the order that it has to keep, and keys. */
  record Subject<K>(String name, KeyCodec<K> codec, Comparator<K> order, List<K> keys) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Subject<?>> subjects() {
    System.out.println("KeyOrderTest: -Drevenant.seed=" + SEED);
    Random random = new Random(SEED);
    List<Subject<?>> simple = simple(random);
    List<Subject<?>> all = new ArrayList<>(simple);
    for (Subject<?> subject : simple) {
      all.add(descending(subject));
      all.add(nullable(subject));
    }
    for (int i = 0; i < 40; i++) {
      all.add(pair(any(all, random), any(all, random), random));
    }
    for (int i = 0; i < 20; i++) { // among them tuples in tuples
      all.add(pair(any(all, random), any(all, random), random));
      all.add(descending(any(all, random)));
    }
    return all.stream();
  }

  private static Subject<?> any(List<Subject<?>> all, Random random) {
    return all.get(random.nextInt(all.size()));
  }

  private static List<Subject<?>> simple(Random random) {
    Comparator<BigDecimal> decimals = BigDecimal::compareTo;
    Collator german = Collator.getInstance(Locale.GERMAN);
    return List.of(
        subject("long", Keys.longs(), Long::compare, longs(random), random),
        subject("int", Keys.ints(), Integer::compare, map(longs(random), Long::intValue), random),
        subject(
            "unsigned long", Keys.unsignedLongs(), Long::compareUnsigned, longs(random), random),
        subject(
            "unsigned int",
            Keys.unsignedInts(),
            Integer::compareUnsigned,
            map(longs(random), Long::intValue),
            random),
        subject("big integer", Keys.bigIntegers(), BigInteger::compareTo, bigs(random), random),
        subject("big decimal", Keys.bigDecimals(), decimals, decimals(random), random),
        subject(
            "string",
            Keys.strings(),
            (one, other) ->
                Arrays.compare(one.codePoints().toArray(), other.codePoints().toArray()),
            texts(random),
            random),
        subject(
            "collated",
            Keys.collated(german),
            Comparator.<String, CollationKey>comparing(german::getCollationKey)
                .thenComparing((one, other) ->
                    Arrays.compare(one.codePoints().toArray(), other.codePoints().toArray())),
            texts(random),
            random),
        subject("bytes", Keys.bytes(), Arrays::compareUnsigned, arrays(random), random),
        subject("boolean", Keys.booleans(), Boolean::compare, () -> random.nextBoolean(), random),
        subject(
            "float",
            Keys.floats(),
            Float::compare,
            map(doubles(random), Double::floatValue),
            random),
        subject("double", Keys.doubles(), Double::compare, doubles(random), random),
        subject(
            "uuid",
            Keys.uuids(),
            Comparator.comparing(UUID::toString),
            () -> new UUID(longs(random).get(), longs(random).get()),
            random),
        subject("instant", Keys.instants(), Instant::compareTo, instants(random), random),
        subject(
            "date",
            Keys.localDates(),
            LocalDate::compareTo,
            () ->
                choose(
                    random,
                    () -> LocalDate.MIN,
                    () -> LocalDate.MAX,
                    () -> LocalDate.ofEpochDay(random.nextInt(-300, 300)),
                    () -> LocalDate.ofEpochDay(random.nextInt())),
            random));
  }

  private static <T, K> Supplier<K> map(Supplier<T> values, Function<T, K> map) {
    return () -> map.apply(values.get());
  }

  @SafeVarargs
  private static <T> T choose(Random random, Supplier<T>... ways) {
    return ways[random.nextInt(ways.length)].get();
  }

  private static Supplier<Long> longs(Random random) {
    return () ->
        choose(
            random,
            random::nextLong,
            () -> (long) random.nextInt(-3, 4),
            () -> (1L << random.nextInt(64)) + random.nextInt(-2, 3),
            () -> -(1L << random.nextInt(64)) + random.nextInt(-2, 3),
            () -> random.nextLong() >> random.nextInt(64));
  }

  private static Supplier<BigInteger> bigs(Random random) {
    return () ->
        choose(
            random,
            () -> BigInteger.valueOf(longs(random).get()),
            () -> new BigInteger(random.nextInt(2_000), random),
            () -> new BigInteger(random.nextInt(2_000), random).negate(),
            () ->
                BigInteger.ONE
                    .shiftLeft(random.nextInt(60, 80))
                    .add(BigInteger.valueOf(random.nextInt(-2, 3))),
            () ->
                BigInteger.ONE
                    .shiftLeft(random.nextInt(60, 80))
                    .add(BigInteger.valueOf(random.nextInt(-2, 3)))
                    .negate());
  }

  private static Supplier<BigDecimal> decimals(Random random) {
    return () ->
        choose(
            random,
            () -> new BigDecimal(random.nextInt(-30, 30)).movePointLeft(random.nextInt(4)),
            () -> BigDecimal.valueOf(random.nextLong(), random.nextInt(-30, 60)),
            () -> new BigDecimal(bigs(random).get(), random.nextInt(-300, 300)),
            () -> new BigDecimal(BigInteger.valueOf(random.nextInt(-9, 9)), Integer.MAX_VALUE),
            () -> new BigDecimal(BigInteger.valueOf(random.nextInt(-9, 9)), -2_000_000_000));
  }

  private static Supplier<String> texts(Random random) {
    int[] characters = {
      0, 0, 1, 'a', 'a', 'b', 'A', 0x7F, 0x80, 0xE4, 0xFF, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD,
      0xFFFF, 0x10000, 0x10FFFF
    };
    return () -> {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(5); i > 0; i--) {
        text.appendCodePoint(characters[random.nextInt(characters.length)]);
      }
      return text.toString();
    };
  }

  private static Supplier<byte[]> arrays(Random random) {
    byte[] values = {0, 0, 1, 2, 0x7F, (byte) 0x80, (byte) 0xFE, -1, -1};
    return () -> {
      byte[] bytes = new byte[random.nextInt(5)];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = values[random.nextInt(values.length)];
      }
      return bytes;
    };
  }

  private static Supplier<Double> doubles(Random random) {
    return () ->
        choose(
            random,
            () -> Double.longBitsToDouble(random.nextLong()),
            () -> (double) random.nextInt(-3, 4),
            () -> random.nextBoolean() ? 0.0 : -0.0,
            () -> random.nextGaussian(),
            () -> Double.NaN,
            () -> random.nextBoolean() ? Double.MIN_VALUE : -Double.MAX_VALUE,
            () -> random.nextBoolean() ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY);
  }

  private static Supplier<Instant> instants(Random random) {
    return () ->
        choose(
            random,
            () -> Instant.MIN,
            () -> Instant.MAX,
            () -> Instant.ofEpochSecond(random.nextInt(-2, 2), random.nextInt(3)),
            () -> Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000)),
            () -> Instant.ofEpochSecond(Long.MAX_VALUE / 1_000_000_000 + random.nextInt(-3, 4), 7),
            () -> Instant.ofEpochSecond(Long.MIN_VALUE / 1_000_000_000 + random.nextInt(-3, 4), 7),
            () -> Instant.ofEpochSecond(random.nextLong(-31L << 49, 31L << 49)));
  }

  private static <K> Subject<K> subject(
      String name, KeyCodec<K> codec, Comparator<K> order, Supplier<K> keys, Random random) {
    return new Subject<>(name, codec, order, Stream.generate(keys).limit(KEYS).toList());
  }

  private static <K> Subject<K> descending(Subject<K> subject) {
    return new Subject<>(
        subject.name + " descending",
        subject.codec.descending(),
        subject.order.reversed(),
        subject.keys);
  }

  private static <K> Subject<K> nullable(Subject<K> subject) {
    List<K> keys = new ArrayList<>(subject.keys);
    keys.add(0, null);
    return new Subject<>(
        subject.name + " or null",
        Keys.nullable(subject.codec),
        Comparator.nullsFirst(subject.order),
        keys);
  }

  private static <A, B> Subject<Tuple2<A, B>> pair(
      Subject<A> first, Subject<B> second, Random random) {
    List<Tuple2<A, B>> keys = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) { // few first parts, so that the second ones decide
      keys.add(
          Tuple2.of(
              first.keys.get(random.nextInt(1 + first.keys.size() / 20)),
              second.keys.get(random.nextInt(second.keys.size()))));
    }
    return new Subject<>(
        "(" + first.name + ", " + second.name + ")",
        Keys.tuple(first.codec, second.codec),
        Comparator.comparing((Tuple2<A, B> pair) -> pair.first(), first.order)
            .thenComparing(Tuple2::second, second.order),
        keys);
  }

  @ParameterizedTest
  @MethodSource("subjects")
  <K> void the_order_of_the_bytes_is_that_of_the_keys(Subject<K> subject) {
    List<byte[]> bytes = subject.keys.stream().map(subject.codec::toBytes).toList();
    for (int i = 0; i < bytes.size(); i++) {
      for (int j = 0; j < bytes.size(); j++) {
        int expected =
            Integer.signum(subject.order.compare(subject.keys.get(i), subject.keys.get(j)));
        int found = Integer.signum(Arrays.compareUnsigned(bytes.get(i), bytes.get(j)));
        if (expected != found) {
          throw new AssertionError(
              subject.keys.get(i)
                  + " and "
                  + subject.keys.get(j)
                  + ": "
                  + HexFormat.of().formatHex(bytes.get(i))
                  + ", "
                  + HexFormat.of().formatHex(bytes.get(j)));
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("subjects")
  <K> void a_key_is_read_as_it_was_written_whatever_follows(Subject<K> subject) {
    KeyCodec<K> part = subject.codec.asPart();
    for (K key : subject.keys) {
      byte[] bytes = subject.codec.toBytes(key);
      assertEquals(0, subject.order.compare(key, subject.codec.fromBytes(bytes)));
      for (int next : new int[] {0, 0x01, 0x14, 0x40}) {
        ByteWriter out = new ByteWriter();
        part.encode(key, out);
        int length = out.length();
        out.writeByte(next);
        ByteReader in = new ByteReader(out.toByteArray());
        assertEquals(0, subject.order.compare(key, part.decode(in)));
        assertEquals(length, in.position());
      }
      assertTrue((bytes[0] & 0xFF) < 0xFF);
    }
  }

  @Test
  void a_prefix_has_all_keys_with_these_parts_and_no_others() {
    Random random = new Random(SEED);
    Supplier<String> texts = texts(random);
    Supplier<byte[]> arrays = arrays(random);
    var codec = Keys.tuple(Keys.strings(), Keys.bytes(), Keys.nullable(Keys.longs()));
    List<Tuple3<String, byte[], Long>> keys = new ArrayList<>();
    for (int i = 0; i < 2 * KEYS; i++) {
      keys.add(
          Tuple3.of(
              texts.get(), arrays.get(), random.nextInt(9) == 0 ? null : longs(random).get()));
    }
    Comparator<byte[]> order = Arrays::compareUnsigned;
    for (int i = 0; i < 30; i++) {
      String text = keys.get(random.nextInt(keys.size())).first();
      byte[] array = arrays.get();
      byte[] end = arrays.get();
      var prefix = codec.prefix(text);
      for (var key : keys) {
        boolean isOfText = key.first().equals(text);
        int toArray = order.compare(key.second(), array);
        assertContains(isOfText, prefix, codec, key);
        assertContains(isOfText && toArray == 0, prefix.equalTo(array), codec, key);
        assertContains(isOfText && toArray == 0, codec.prefix(text, array), codec, key);
        assertContains(isOfText && toArray >= 0, prefix.atLeast(array), codec, key);
        assertContains(isOfText && toArray > 0, prefix.greaterThan(array), codec, key);
        assertContains(isOfText && toArray <= 0, prefix.atMost(array), codec, key);
        assertContains(isOfText && toArray < 0, prefix.lessThan(array), codec, key);
        assertContains(
            isOfText && toArray >= 0 && order.compare(key.second(), end) < 0,
            prefix.between(array, end),
            codec,
            key);
      }
    }
  }

  private static <K> void assertContains(
      boolean expected, KeyRange<K> range, KeyCodec<K> codec, K key) {
    byte[] bytes = codec.toBytes(key);
    byte[] from = range.from();
    byte[] to = range.to();
    boolean found =
        (from == null || Arrays.compareUnsigned(from, bytes) <= 0)
            && (to == null || Arrays.compareUnsigned(bytes, to) < 0);
    assertEquals(expected, found, () -> range + " and " + HexFormat.of().formatHex(bytes));
  }

  @Test
  void tuples_of_up_to_eight_parts_are_read_as_they_were_written() {
    KeyCodec<Long> n = Keys.longs();
    KeyCodec<String> t = Keys.strings();
    assertReadAsWritten(Keys.tuple(n, t), Tuple2.of(1L, "b"));
    assertReadAsWritten(Keys.tuple(n, t, n), Tuple3.of(1L, "b", 3L));
    assertReadAsWritten(Keys.tuple(n, t, n, t), Tuple4.of(1L, "b", 3L, "d"));
    assertReadAsWritten(Keys.tuple(n, t, n, t, n), Tuple5.of(1L, "b", 3L, "d", 5L));
    assertReadAsWritten(Keys.tuple(n, t, n, t, n, t), Tuple6.of(1L, "b", 3L, "d", 5L, "f"));
    assertReadAsWritten(Keys.tuple(n, t, n, t, n, t, n), Tuple7.of(1L, "b", 3L, "d", 5L, "f", 7L));
    assertReadAsWritten(
        Keys.tuple(n, t, n, t, n, t, n, t), Tuple8.of(1L, "b", 3L, "d", 5L, "f", 7L, "h"));
  }

  private static <K> void assertReadAsWritten(KeyCodec<K> codec, K key) {
    assertEquals(key, codec.fromBytes(codec.toBytes(key)));
    assertEquals(key, codec.asPart().fromBytes(codec.asPart().toBytes(key)));
  }

  @Test
  void a_key_of_another_type_has_the_order_of_what_it_is_made_of() {
    record OrderId(long number) {}
    KeyCodec<OrderId> codec = Keys.longs().map(OrderId::new, OrderId::number);
    assertEquals(new OrderId(-7), codec.fromBytes(codec.toBytes(new OrderId(-7))));
    assertTrue(codec.comparator().compare(new OrderId(-7), new OrderId(3)) < 0);
    assertTrue(codec.descending().comparator().compare(new OrderId(-7), new OrderId(3)) > 0);
  }
}
