package org.revenantdb.collections.value;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.Codec;

/**
 * The codecs of the components of a record that are no primitives.
 *
 * <pre>
 * 00                   null
 * 01, value            boxed primitives, UUID, Instant, LocalDate, Duration, nested record
 * 1 + bytes, bytes     text, byte[], BigInteger, enum (by name), value of a codec of the user
 * 1 + bytes, bytes     BigDecimal: scale, then its unscaled value
 * 1 + count, elements  List, Set; of a Map: key, value, key, value
 * </pre>
 *
 * <p>Lengths and counts are numbers of {@link ByteWriter#writeVarLong}.
 */
final class Components {
  /** Reads and writes a component, which may be null; says what it is. */
  interface Component {
    /** Writes it. */
    void write(ByteWriter out, @Nullable Object value);

    /** Reads it. */
    @Nullable Object read(ByteReader in);
  }

  private static final Map<Class<?>, Component> SIMPLE = simple();

  private final Map<Class<?>, Codec<?>> users;
  private final MethodHandles.@Nullable Lookup lookup;

  /**
   * The records that are being examined, so that a record that contains itself is refused with its
   * name.
   */
  private final Set<Class<?>> open;

  Components(
      Map<Class<?>, Codec<?>> users, MethodHandles.@Nullable Lookup lookup, Set<Class<?>> open) {
    this.users = users;
    this.lookup = lookup;
    this.open = open;
  }

  private static Map<Class<?>, Component> simple() {
    Map<Class<?>, Component> simple = new HashMap<>();
    fixed(
        simple,
        Boolean.class,
        (value, out) -> out.writeByte(value ? 1 : 0),
        in -> in.readByte() != 0);
    fixed(simple, Byte.class, (value, out) -> out.writeByte(value), in -> (byte) in.readByte());
    fixed(simple, Short.class, (value, out) -> out.writeShort(value), in -> (short) in.readShort());
    fixed(
        simple,
        Character.class,
        (value, out) -> out.writeShort(value),
        in -> (char) in.readShort());
    fixed(simple, Integer.class, (value, out) -> out.writeInt(value), ByteReader::readInt);
    fixed(simple, Long.class, (value, out) -> out.writeLong(value), ByteReader::readLong);
    fixed(
        simple,
        Float.class,
        (value, out) -> out.writeInt(Float.floatToRawIntBits(value)),
        in -> Float.intBitsToFloat(in.readInt()));
    fixed(
        simple,
        Double.class,
        (value, out) -> out.writeLong(Double.doubleToRawLongBits(value)),
        in -> Double.longBitsToDouble(in.readLong()));
    fixed(
        simple,
        UUID.class,
        (value, out) -> {
          out.writeLong(value.getMostSignificantBits());
          out.writeLong(value.getLeastSignificantBits());
        },
        in -> {
          long most = in.readLong();
          return new UUID(most, in.readLong());
        });
    fixed(
        simple,
        Instant.class,
        (value, out) -> {
          out.writeLong(value.getEpochSecond());
          out.writeInt(value.getNano());
        },
        in -> {
          long second = in.readLong();
          return Instant.ofEpochSecond(second, in.readInt());
        });
    fixed(
        simple,
        Duration.class,
        (value, out) -> {
          out.writeLong(value.getSeconds());
          out.writeInt(value.getNano());
        },
        in -> {
          long second = in.readLong();
          return Duration.ofSeconds(second, in.readInt());
        });
    fixed(
        simple,
        LocalDate.class,
        (value, out) -> out.writeLong(value.toEpochDay()),
        in -> LocalDate.ofEpochDay(in.readLong()));
    simple.put(String.class, text());
    sized(simple, byte[].class, value -> value, bytes -> bytes);
    sized(simple, BigInteger.class, BigInteger::toByteArray, BigInteger::new);
    sized(simple, BigDecimal.class, Components::bytesOf, Components::decimal);
    return simple;
  }

  private static byte[] bytesOf(BigDecimal value) {
    ByteWriter out = new ByteWriter();
    out.writeInt(value.scale());
    out.writeBytes(value.unscaledValue().toByteArray());
    return out.toByteArray();
  }

  private static BigDecimal decimal(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    int scale = in.readInt();
    return new BigDecimal(new BigInteger(in.readBytes(in.remaining())), scale);
  }

  private static Component text() {
    return new Component() {
      @Override
      public void write(ByteWriter out, @Nullable Object value) {
        if (value == null) {
          out.writeByte(0);
          return;
        }
        String text = (String) value;
        long bytes = utf8Length(text);
        out.writeVarLong(1 + bytes);
        out.writeUtf8(text);
      }

      @Override
      public @Nullable Object read(ByteReader in) {
        int bytes = length(in);
        return bytes < 0 ? null : in.readUtf8(bytes);
      }
    };
  }

  private static long utf8Length(String text) {
    long bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
    }
    return bytes;
  }

  /** A length, or -1 for null. */
  private static int length(ByteReader in) {
    long length = in.readVarLong() - 1;
    if (length < -1 || length > in.remaining()) {
      throw new IllegalArgumentException(
          "a component has a length of " + length + ", and " + in.remaining() + " bytes are left");
    }
    return (int) length;
  }

  private static <T> void fixed(
      Map<Class<?>, Component> into,
      Class<T> type,
      BiConsumer<T, ByteWriter> writer,
      Function<ByteReader, T> reader) {
    into.put(type, orNull(type, writer, reader));
  }

  private static <T> Component orNull(
      Class<T> type, BiConsumer<T, ByteWriter> writer, Function<ByteReader, T> reader) {
    return new Component() {
      @Override
      public void write(ByteWriter out, @Nullable Object value) {
        out.writeByte(value == null ? 0 : 1);
        if (value != null) {
          writer.accept(type.cast(value), out);
        }
      }

      @Override
      public @Nullable Object read(ByteReader in) {
        return in.readByte() == 0 ? null : reader.apply(in);
      }
    };
  }

  private static <T> void sized(
      Map<Class<?>, Component> into,
      Class<T> type,
      Function<T, byte[]> to,
      Function<byte[], T> from) {
    into.put(type, sized(type, to, from));
  }

  private static <T> Component sized(
      Class<T> type, Function<T, byte[]> to, Function<byte[], T> from) {
    return new Component() {
      @Override
      public void write(ByteWriter out, @Nullable Object value) {
        if (value == null) {
          out.writeByte(0);
          return;
        }
        byte[] bytes = to.apply(type.cast(value));
        out.writeVarLong(1L + bytes.length);
        out.writeBytes(bytes);
      }

      @Override
      public @Nullable Object read(ByteReader in) {
        int bytes = length(in);
        return bytes < 0 ? null : from.apply(in.readBytes(bytes));
      }
    };
  }

  /** That of a type; a description of what it writes is appended. */
  Component of(Type type, StringBuilder shape) {
    if (type instanceof Class<?> simple) {
      return ofClass(simple, shape);
    }
    if (type instanceof ParameterizedType generic && generic.getRawType() instanceof Class<?> raw) {
      Type[] of = generic.getActualTypeArguments();
      if (raw == List.class || raw == Set.class || raw == Map.class) {
        shape.append(raw.getSimpleName()).append('<');
        List<Component> elements = new ArrayList<>();
        for (Type element : of) {
          elements.add(this.of(element, shape));
          shape.append(';');
        }
        shape.append('>');
        return raw == Map.class
            ? map(elements.get(0), elements.get(1))
            : collection(elements.get(0), raw == Set.class);
      }
      return ofClass(raw, shape);
    }
    if (type instanceof GenericArrayType) {
      throw unknown(type.getTypeName());
    }
    throw unknown(type.getTypeName());
  }

  private static IllegalArgumentException unknown(String type) {
    return new IllegalArgumentException(
        "there is no codec for a component of type "
            + type
            + "; give one to Codecs.records, or use a primitive, a boxed one, String, byte[], UUID,"
            + " Instant, Duration, LocalDate, BigInteger, BigDecimal, an enum, a record, or a List,"
            + " Set or Map of these");
  }

  private Component ofClass(Class<?> type, StringBuilder shape) {
    Codec<?> users = this.users.get(type);
    if (users != null) {
      shape.append("codec of ").append(type.getSimpleName());
      return ofUser(users);
    }
    Component simple = SIMPLE.get(type);
    if (simple != null) {
      shape.append(type.getSimpleName());
      return simple;
    }
    if (type.isEnum()) {
      shape.append("enum");
      return ofEnum(type);
    }
    if (type.isRecord()) {
      return ofRecord(type.asSubclass(Record.class), shape);
    }
    throw unknown(type.getTypeName());
  }

  private <R extends Record> Component ofRecord(Class<R> type, StringBuilder shape) {
    RecordBody<R> body = new RecordBody<>(type, lookup, users, open);
    shape.append(body.shape());
    return orNull(type, (value, out) -> body.write(out, value), body::read);
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // the type is that of an enum
  private static Component ofEnum(Class<?> type) {
    return sized(
        (Class<Enum>) type,
        value -> value.name().getBytes(StandardCharsets.UTF_8),
        bytes -> Enum.valueOf((Class) type, new String(bytes, StandardCharsets.UTF_8)));
  }

  @SuppressWarnings("unchecked") // it was given for the type of the component
  private static Component ofUser(Codec<?> codec) {
    Codec<Object> any = (Codec<Object>) codec;
    return sized(
        Object.class,
        value -> {
          ByteWriter out = new ByteWriter();
          any.encode(value, out);
          return out.toByteArray();
        },
        bytes -> any.decode(new ByteReader(bytes)));
  }

  private static Component collection(Component element, boolean isSet) {
    return new Component() {
      @Override
      public void write(ByteWriter out, @Nullable Object value) {
        if (value == null) {
          out.writeByte(0);
          return;
        }
        java.util.Collection<?> all = (java.util.Collection<?>) value;
        out.writeVarLong(1L + all.size());
        for (Object each : all) {
          element.write(out, each);
        }
      }

      @Override
      public @Nullable Object read(ByteReader in) {
        int count = length(in); // an element has a byte at least
        if (count < 0) {
          return null;
        }
        java.util.Collection<@Nullable Object> all =
            isSet ? new LinkedHashSet<>() : new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
          all.add(element.read(in));
        }
        return isSet
            ? java.util.Collections.unmodifiableSet((Set<@Nullable Object>) all)
            : java.util.Collections.unmodifiableList((List<@Nullable Object>) all);
      }
    };
  }

  private static Component map(Component key, Component content) {
    return new Component() {
      @Override
      public void write(ByteWriter out, @Nullable Object value) {
        if (value == null) {
          out.writeByte(0);
          return;
        }
        Map<?, ?> all = (Map<?, ?>) value;
        out.writeVarLong(1L + all.size());
        all.forEach((each, of) -> {
          key.write(out, each);
          content.write(out, of);
        });
      }

      @Override
      public @Nullable Object read(ByteReader in) {
        int count = length(in);
        if (count < 0) {
          return null;
        }
        Map<@Nullable Object, @Nullable Object> all = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
          Object each = key.read(in);
          all.put(each, content.read(in));
        }
        return java.util.Collections.unmodifiableMap(all);
      }
    };
  }
}
