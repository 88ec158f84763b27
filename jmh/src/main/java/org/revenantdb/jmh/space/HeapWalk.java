package org.revenantdb.jmh.space;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * Finds objects of the engine by following references, and returns their heap size, including
 * objects behind them of the JDK's classes: maps and their nodes, arrays, locks.
 *
 * <p>No size is computed. The size of an object is what the JVM counts for its class, that of an
 * array is the allocation of another one of the same length.
 *
 * <p>Other threads may change the objects during the walk; such an object counts or not.
 *
 * <p>One thread at a time. The JVM needs {@code --add-opens} for the packages of {@code java.util}.
 */
final class HeapWalk {
  private static final String OURS = "org.revenantdb.";
  private static final int COLUMNS = 4;

  /** Keeps the compiler from removing allocations that are measured. */
  @SuppressWarnings("UnusedVariable")
  private static volatile @Nullable Object last;

  private final Map<String, long[]> classes = new HashMap<>();
  private final Map<Class<?>, List<Field>> fields = new HashMap<>();
  private final Map<List<Object>, Long> arrays = new HashMap<>();

  /** Counts live objects, by a full collection. */
  void count() throws JMException {
    String histogram =
        (String)
            ManagementFactory.getPlatformMBeanServer()
                .invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "gcClassHistogram",
                    new Object[] {new String[0]},
                    new String[] {String[].class.getName()});
    classes.clear();
    for (String line : histogram.lines().toList()) {
      String[] columns = line.strip().split("\\s+", -1);
      if (columns.length >= COLUMNS && columns[0].matches("\\d+:")) {
        long[] sum = classes.computeIfAbsent(columns[3], _ -> new long[2]);
        sum[0] += Long.parseLong(columns[1]);
        sum[1] += Long.parseLong(columns[2]);
      }
    }
  }

  /** How many objects of a class were alive. */
  long alive(Class<?> type) {
    long[] sum = classes.get(type.getName());
    return sum == null ? 0 : sum[0];
  }

  /** All objects of ours that can be reached, through ours and the JDK's collections. */
  Set<Object> ours(Object root) throws IllegalAccessException {
    Set<Object> seen = reach(List.of(root), type -> type.getName().startsWith(OURS));
    seen.removeIf(it -> !it.getClass().getName().startsWith(OURS));
    return seen;
  }

  /**
   * What objects take together, with those of their kind that they reach.
   *
   * @param kind of ours; what else is of ours belongs to others
   */
  long bytes(Collection<?> roots, Predicate<Class<?>> kind)
      throws IllegalAccessException, JMException {
    return bytes(reach(roots, kind));
  }

  /** What objects take together, without what they reach. */
  long bytes(Set<Object> objects) throws JMException {
    long sum = 0;
    for (Object object : objects) {
      sum += shallow(object);
    }
    return sum;
  }

  /** Objects, and those that they reach, of a kind; or of the JDK. */
  Set<Object> reach(Collection<?> roots, Predicate<Class<?>> kind) throws IllegalAccessException {
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Object> open = new ArrayDeque<>();
    roots.forEach(root -> add(root, kind, seen, open));
    while (!open.isEmpty()) {
      Object object = open.pop();
      if (object instanceof Object[] elements) {
        for (Object element : elements) {
          add(element, kind, seen, open);
        }
      } else {
        for (Field field : references(object.getClass())) {
          add(field.get(object), kind, seen, open);
        }
      }
    }
    return seen;
  }

  private static void add(
      @Nullable Object object, Predicate<Class<?>> kind, Set<Object> seen, Deque<Object> open) {
    if (object != null && belongs(object, kind) && seen.add(object)) {
      open.push(object);
    }
  }

  private static boolean belongs(Object object, Predicate<Class<?>> kind) {
    Class<?> type = object.getClass();
    return type.isArray()
        || type.getName().startsWith("java.util.")
        || object instanceof Number
        || kind.test(type);
  }

  /** The engine's classes and collections; other objects of a thread do not count. */
  private List<Field> references(Class<?> type) {
    return fields.computeIfAbsent(
        type,
        _ -> {
          List<Field> found = new ArrayList<>();
          for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            String name = at.getName();
            if (name.startsWith(OURS) || name.startsWith("java.util.")) {
              for (Field field : at.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                  field.setAccessible(true);
                  found.add(field);
                }
              }
            }
          }
          return found;
        });
  }

  /** What one object takes. */
  long shallow(Object object) throws JMException {
    Class<?> type = object.getClass();
    if (type.isArray()) {
      return arrays.computeIfAbsent(
          List.of(type, Array.getLength(object)),
          _ -> allocated(type.getComponentType(), Array.getLength(object)));
    }
    if (!classes.containsKey(type.getName())) {
      count(); // it has come since; now it is alive, as we have it
    }
    long[] sum = classes.get(type.getName());
    if (sum == null) {
      throw new IllegalStateException("the JVM does not count " + type);
    }
    return sum[1] / sum[0];
  }

  private static long allocated(Class<?> element, int length) {
    if (!(ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean threads)) {
      throw new IllegalStateException("this JVM does not count what a thread allocates");
    }
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) { // the first one may allocate something besides
      long before = threads.getCurrentThreadAllocatedBytes();
      last = Array.newInstance(element, length);
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    last = null;
    return least;
  }

  /** The value of a field, by its name. */
  static Object field(Object object, String name) throws ReflectiveOperationException {
    Field field = object.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(object);
  }
}
