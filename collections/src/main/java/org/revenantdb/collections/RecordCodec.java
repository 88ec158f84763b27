package org.revenantdb.collections;

import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.value.RecordFormat;

/**
 * A codec of a record: a schema version, and its components. {@link Codecs#records} makes it.
 * Immutable and thread-safe.
 *
 * <p>A component is a primitive, a boxed one, {@code String}, {@code byte[]}, {@code UUID}, {@code
 * Instant}, {@code Duration}, {@code LocalDate}, {@code BigInteger}, {@code BigDecimal}, an enum
 * (stored by its name), another record, or a {@code List}, {@code Set} or {@code Map} of these.
 * Components that are no primitives may be null. Collections are read as unmodifiable ones.
 *
 * <p>Each value has the version and a check of names and types of the components. If these change,
 * the record needs a higher version, and a function for each former version that still has rows:
 *
 * {@snippet :
 * record CustomerV1(String name) {}
 * record Customer(String name, String city) {}
 *
 * Codec<Customer> codec =
 *     Codecs.records(Customer.class)
 *         .withVersion(2)
 *         .withFormer(1, CustomerV1.class, old -> new Customer(old.name(), "unknown"));
 * }
 *
 * @param <R> type of the record
 */
public final class RecordCodec<R extends Record> implements Codec<R> {
  /** Highest version of a record. */
  public static final int MAX_VERSION = 1_000_000;

  private final Class<R> type;
  private final MethodHandles.@Nullable Lookup lookup;
  private final int version;
  private final Map<Class<?>, Codec<?>> components;
  private final RecordFormat<R> format;
  private final Map<Integer, Former<?, R>> former;

  /** A former version. */
  record Former<F extends Record, R>(
      RecordFormat<F> format, Function<? super F, ? extends R> upgrade) {
    R read(ByteReader in) {
      return upgrade.apply(format.read(in));
    }
  }

  RecordCodec(
      Class<R> type,
      MethodHandles.@Nullable Lookup lookup,
      int version,
      Map<Class<?>, Codec<?>> components,
      Map<Integer, Former<?, R>> former) {
    this.type = type;
    this.lookup = lookup;
    this.version = version;
    this.components = components;
    this.former = former;
    this.format = new RecordFormat<>(type, version, lookup, components);
  }

  /**
   * Sets the version that is written.
   *
   * @param version 1 to {@link #MAX_VERSION}; 1 is the default
   * @return another codec
   */
  public RecordCodec<R> withVersion(int version) {
    check(version);
    return new RecordCodec<>(type, lookup, version, components, former);
  }

  /**
   * Adds a former version that is still read.
   *
   * @param formerVersion the version that it was written with
   * @param formerType a record with the components that it had then; its name does not matter
   * @param upgrade makes a record of the present version from a former one
   * @param <F> type of the former record
   * @return another codec
   */
  public <F extends Record> RecordCodec<R> withFormer(
      int formerVersion, Class<F> formerType, Function<? super F, ? extends R> upgrade) {
    check(formerVersion);
    Objects.requireNonNull(upgrade, "upgrade must not be null");
    Map<Integer, Former<?, R>> all = new HashMap<>(former);
    all.put(
        formerVersion,
        new Former<>(new RecordFormat<>(formerType, formerVersion, lookup, components), upgrade));
    return new RecordCodec<>(type, lookup, version, components, all);
  }

  private static void check(int version) {
    if (version < 1 || version > MAX_VERSION) {
      throw new IllegalArgumentException(
          "a version of a record is from 1 to " + MAX_VERSION + ", not " + version);
    }
  }

  @Override
  public void encode(R value, ByteWriter out) {
    format.write(value, out);
  }

  @Override
  public R decode(ByteReader in) {
    long found = in.readVarLong();
    if (found == version) {
      return format.read(in);
    }
    Former<?, R> reader = found == (int) found ? former.get((int) found) : null;
    if (reader == null) {
      throw new IllegalArgumentException(
          "the value is a "
              + type.getSimpleName()
              + " of version "
              + found
              + ", and the codec has "
              + version
              + (former.isEmpty() ? "" : " and the former ones " + former.keySet())
              + "; add that one by withFormer");
    }
    return reader.read(in);
  }

  @Override
  public String toString() {
    return "record " + type.getName() + ", version " + version;
  }
}
