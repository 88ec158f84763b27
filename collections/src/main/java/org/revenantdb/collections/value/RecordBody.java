package org.revenantdb.collections.value;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.RecordComponent;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.Codec;

/**
 * The components of a record, one after the other; primitives as they are, others as {@link
 * Components} has them.
 *
 * <p>Each component is a method handle from a reader to its value, and the constructor is called
 * with all of them. So a primitive is never boxed, and what is allocated is the record and what it
 * has.
 *
 * @param <R> type of the record
 */
final class RecordBody<R extends Record> {
  private static final MethodHandles.Lookup OWN = MethodHandles.lookup();

  private final Class<R> type;

  /** {@code (ByteReader)Object} */
  private final MethodHandle reader;

  /** {@code (ByteWriter, Object)void}, one for each component. */
  private final MethodHandle[] writers;

  private final String shape;

  RecordBody(
      Class<R> type,
      MethodHandles.@Nullable Lookup lookup,
      Map<Class<?>, Codec<?>> users,
      Set<Class<?>> open) {
    this.type = type;
    if (open.contains(type)) {
      throw new IllegalArgumentException(
          "record " + type.getName() + " has a component of its own type; give a codec for it");
    }
    Set<Class<?>> inner = new HashSet<>(open);
    inner.add(type);
    Components components = new Components(users, lookup, inner);
    RecordComponent[] parts = type.getRecordComponents();
    StringBuilder text = new StringBuilder("(");
    MethodHandle[] readers = new MethodHandle[parts.length];
    writers = new MethodHandle[parts.length];
    MethodHandle constructor;
    try {
      for (int i = 0; i < parts.length; i++) {
        RecordComponent part = parts[i];
        text.append(part.getName()).append(':');
        MethodHandle write;
        if (part.getType().isPrimitive() && !users.containsKey(part.getType())) {
          text.append(part.getType());
          readers[i] = primitive("read", part.getType());
          write = primitive("write", part.getType());
        } else {
          Components.Component component = components.of(part.getGenericType(), text);
          readers[i] =
              OWN.findVirtual(
                      Components.Component.class,
                      "read",
                      MethodType.methodType(Object.class, ByteReader.class))
                  .bindTo(component)
                  .asType(MethodType.methodType(part.getType(), ByteReader.class));
          write =
              OWN.findVirtual(
                      Components.Component.class,
                      "write",
                      MethodType.methodType(void.class, ByteWriter.class, Object.class))
                  .bindTo(component)
                  .asType(MethodType.methodType(void.class, ByteWriter.class, part.getType()));
        }
        text.append(',');
        MethodHandle accessor = unreflected(lookup, part);
        writers[i] =
            MethodHandles.filterArguments(write, 1, accessor)
                .asType(MethodType.methodType(void.class, ByteWriter.class, Object.class));
      }
      Class<?>[] types = Stream.of(parts).map(RecordComponent::getType).toArray(Class<?>[]::new);
      Constructor<R> canonical = type.getDeclaredConstructor(types);
      constructor =
          lookup == null
              ? OWN.unreflectConstructor(opened(canonical))
              : lookup.unreflectConstructor(canonical);
    } catch (NoSuchMethodException | IllegalAccessException | InaccessibleObjectException e) {
      throw new IllegalArgumentException(
          "record "
              + type.getName()
              + " is not accessible: give a MethodHandles.lookup() of its module, or open its"
              + " package to org.revenantdb.collections",
          e);
    }
    shape = text.append(')').toString();
    MethodHandle all = MethodHandles.filterArguments(constructor, 0, readers);
    int[] first = new int[parts.length]; // each reads from the same reader, from left to right
    reader =
        MethodHandles.permuteArguments(all, MethodType.methodType(type, ByteReader.class), first)
            .asType(MethodType.methodType(Object.class, ByteReader.class));
  }

  private static MethodHandle primitive(String verb, Class<?> type)
      throws NoSuchMethodException, IllegalAccessException {
    return OWN.findStatic(
        Primitives.class,
        verb + Character.toUpperCase(type.getName().charAt(0)) + type.getName().substring(1),
        verb.equals("read")
            ? MethodType.methodType(type, ByteReader.class)
            : MethodType.methodType(void.class, ByteWriter.class, type));
  }

  private static MethodHandle unreflected(
      MethodHandles.@Nullable Lookup lookup, RecordComponent part) throws IllegalAccessException {
    return lookup == null
        ? OWN.unreflect(opened(part.getAccessor()))
        : lookup.unreflect(part.getAccessor());
  }

  private static <A extends AccessibleObject> A opened(A member) {
    member.setAccessible(true);
    return member;
  }

  /** Names and types of the components. */
  String shape() {
    return shape;
  }

  void write(ByteWriter out, R value) {
    try {
      for (MethodHandle writer : writers) {
        writer.invokeExact(out, (Object) value);
      }
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable checked) {
      throw new IllegalStateException("an accessor of " + type.getName() + " has thrown", checked);
    }
  }

  R read(ByteReader in) {
    try {
      return type.cast(reader.invokeExact(in));
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable checked) {
      throw new IllegalStateException(
          "the constructor of " + type.getName() + " has thrown", checked);
    }
  }
}
