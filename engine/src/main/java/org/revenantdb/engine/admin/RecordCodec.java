package org.revenantdb.engine.admin;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records of a sealed interface as bytes: the place of the record among the permitted ones, then
 * its components in their order.
 *
 * <table>
 * <caption>Components</caption>
 * <tr><td>{@code int}, {@code long}, {@code boolean}</td><td>4, 8, 1 bytes, big-endian</td></tr>
 * <tr><td>{@code byte[]}, {@code String} in UTF-8</td><td>length in 4 bytes, -1 for null; bytes</td></tr>
 * <tr><td>{@code List} of strings or of records</td><td>number in 4 bytes; elements</td></tr>
 * </table>
 *
 * <p>Failure: an {@link IOException} for bytes that are no such record; nothing is allocated beyond
 * the length of the bytes.
 */
final class RecordCodec {
  private RecordCodec() {}

  static byte[] encode(Record value, Class<?> sealed) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeByte(Arrays.asList(sealed.getPermittedSubclasses()).indexOf(value.getClass()));
    write(out, value);
    out.flush();
    return bytes.toByteArray();
  }

  static <T> T decode(byte[] bytes, Class<T> sealed) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    Class<?>[] kinds = sealed.getPermittedSubclasses();
    int kind = in.readUnsignedByte();
    if (kind >= kinds.length) {
      throw new IOException("there is no message of kind " + kind);
    }
    T value = sealed.cast(readRecord(in, kinds[kind]));
    if (in.available() > 0) {
      throw new IOException(in.available() + " bytes are left behind a message");
    }
    return value;
  }

  private static void write(DataOutputStream out, Record value) throws IOException {
    for (RecordComponent component : value.getClass().getRecordComponents()) {
      writeOne(out, component.getGenericType(), get(component, value));
    }
  }

  private static void writeOne(DataOutputStream out, Type type, @Nullable Object value)
      throws IOException {
    switch (value) {
      case Integer number -> out.writeInt(number);
      case Long number -> out.writeLong(number);
      case Boolean yes -> out.writeBoolean(yes);
      case String text -> writeBytes(out, text.getBytes(StandardCharsets.UTF_8));
      case byte[] bytes -> writeBytes(out, bytes);
      case List<?> list -> {
        out.writeInt(list.size());
        for (Object element : list) {
          writeOne(out, element.getClass(), element);
        }
      }
      case Record inner -> write(out, inner);
      case null -> out.writeInt(-1);
      default -> throw new IllegalArgumentException(type.getTypeName());
    }
  }

  private static void writeBytes(DataOutputStream out, byte[] bytes) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static Object readRecord(DataInputStream in, Class<?> type) throws IOException {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    @Nullable Object[] values = new @Nullable Object[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      values[i] = readOne(in, components[i].getGenericType());
    }
    try {
      return type.getDeclaredConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException impossible) {
      throw new LinkageError(type.getName(), impossible);
    }
  }

  private static @Nullable Object readOne(DataInputStream in, Type type) throws IOException {
    if (type == int.class) {
      return in.readInt();
    }
    if (type == long.class) {
      return in.readLong();
    }
    if (type == boolean.class) {
      return in.readBoolean();
    }
    if (type == byte[].class) {
      return readBytes(in);
    }
    if (type == String.class) {
      byte[] bytes = readBytes(in);
      return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }
    if (type instanceof ParameterizedType list) {
      Type element = list.getActualTypeArguments()[0];
      List<@Nullable Object> values = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        values.add(readOne(in, element)); // ends with the bytes, whatever the number says
      }
      return values;
    }
    return readRecord(in, (Class<?>) type);
  }

  private static byte @Nullable [] readBytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length > in.available()) {
      throw new IOException(length + " bytes are announced, " + in.available() + " are there");
    }
    return length < 0 ? null : in.readNBytes(length);
  }

  private static @Nullable Object get(RecordComponent component, Record value) {
    try {
      return component.getAccessor().invoke(value);
    } catch (ReflectiveOperationException impossible) {
      throw new LinkageError(component.toString(), impossible);
    }
  }
}
