package org.revenantdb.chaos.run;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.function.Supplier;
import org.revenantdb.chaos.subject.CrashSubject;

/** Creates subjects from their class, which may be nested in a test and not public. */
public final class Subjects {

  private Subjects() {}

  /**
   * Returns a source of subjects of one class.
   *
   * @param type has a constructor without parameters
   * @param <S> the open store
   * @return creates a new one at each call
   * @throws IllegalArgumentException if there is no such constructor
   */
  public static <S> Supplier<CrashSubject<S>> of(Class<?> type) {
    Constructor<?> constructor;
    try {
      constructor = type.getDeclaredConstructor();
      constructor.setAccessible(true);
    } catch (NoSuchMethodException e) {
      throw new IllegalArgumentException(
          "%s needs a constructor without parameters (a nested class must be static)"
              .formatted(type.getName()),
          e);
    }
    if (!CrashSubject.class.isAssignableFrom(type)) {
      throw new IllegalArgumentException(
          type.getName() + " does not implement " + CrashSubject.class.getName());
    }
    return new OfClass<>(type, constructor);
  }

  /** Makes subjects by their class, which another JVM can do as well. */
  record OfClass<S>(Class<?> type, Constructor<?> constructor)
      implements Supplier<CrashSubject<S>> {

    @Override
    @SuppressWarnings("unchecked") // the store's type is known only to the class
    public CrashSubject<S> get() {
      try {
        return (CrashSubject<S>) constructor.newInstance();
      } catch (InvocationTargetException e) {
        throw new IllegalStateException("the constructor of " + type.getName() + " failed", e);
      } catch (ReflectiveOperationException e) {
        throw new IllegalArgumentException(type.getName() + " cannot be made", e);
      }
    }
  }

  /**
   * Returns a source of subjects of a class in a failure's file.
   *
   * @param name binary name
   * @param <S> the open store
   * @return creates a new one at each call
   * @throws IOException with a message for people, if there is no such class
   */
  static <S> Supplier<CrashSubject<S>> named(String name) throws IOException {
    try {
      return of(Class.forName(name));
    } catch (ClassNotFoundException | IllegalArgumentException e) {
      throw new IOException(
          "the failure is of the subject "
              + name
              + ", which is not here: replay it where that class is on the class path",
          e);
    }
  }
}
