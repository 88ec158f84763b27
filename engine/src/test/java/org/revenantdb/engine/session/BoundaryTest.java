package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.BufferUnderflowException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.InternalFailureException;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.LogStoppedException;

/** What leaves the engine is an exception of the project's own, with the caller's stack. */
class BoundaryTest {
  private static final Path DIRECTORY = Path.of("/somewhere/db");

  private static RuntimeException told(RuntimeException failure) {
    return Boundary.told(DIRECTORY, failure);
  }

  static List<RuntimeException> raw() {
    return List.of(
        new IndexOutOfBoundsException("raw"),
        new IllegalStateException("raw"),
        new IllegalArgumentException("raw"),
        new NullPointerException("raw"),
        new ArithmeticException("raw"),
        new ClassCastException("raw"),
        new NoSuchElementException("raw"),
        new UnsupportedOperationException("raw"),
        new BufferUnderflowException(),
        new NegativeArraySizeException("raw"),
        new CompletionException(new IllegalStateException("raw")),
        new CompletionException("raw", null),
        new CompletionException(new ExecutionException(new IOException("raw"))));
  }

  @ParameterizedTest
  @MethodSource("raw")
  void an_unexpected_failure_names_the_database_and_the_cure(RuntimeException raw) {
    RuntimeException told = told(raw);
    assertSame(InternalFailureException.class, told.getClass());
    assertTrue(told.getMessage().contains(DIRECTORY.toString()), told.getMessage());
    assertTrue(told.getMessage().contains("run the check command"), told.getMessage());
    assertTrue(told.getMessage().contains("report"), told.getMessage());
    assertFalse(told.getCause() instanceof CompletionException && raw.getCause() != null);
  }

  @Test
  void a_log_that_has_stopped_is_a_database_that_has() {
    FileException why = new FileException(DIRECTORY, 1, "reason", "cure", null);
    RuntimeException told = told(new CompletionException(new LogStoppedException(why)));
    assertInstanceOf(DatabaseStoppedException.class, told);
    assertTrue(told.getMessage().contains(why.getMessage()), told.getMessage());
    assertInstanceOf(OutcomeUnknownException.class, told(new DurabilityUnknownException(5, why)));
  }

  @Test
  void an_error_of_the_system_names_the_database() {
    RuntimeException told = told(new UncheckedIOException(new IOException("Too many open files")));
    assertTrue(
        assertInstanceOf(org.revenantdb.engine.StorageException.class, told)
            .cure()
            .contains("ulimit -n"));
  }

  @Test
  void misuse_and_exceptions_of_this_thread_are_not_touched() {
    for (RuntimeException own :
        List.of(
            new Misuse.OfArgument("own"),
            new Misuse.OfState("own"),
            new LimitException(LimitException.Reason.KEY_LENGTH, "own"),
            new org.revenantdb.engine.CorruptDataException(
                DIRECTORY, 0, "own", "cure", new IOException()))) {
      assertSame(own, told(own));
      assertSame(own, told(new CompletionException(own)));
    }
  }

  @Test
  void an_error_stays_one() {
    OutOfMemoryError error = new OutOfMemoryError();
    assertSame(
        error, assertThrows(OutOfMemoryError.class, () -> told(new CompletionException(error))));
  }

  @Test
  void an_exception_of_another_thread_becomes_one_of_the_caller() {
    FileException other =
        CompletableFuture.supplyAsync(() -> new DamagedFileException(DIRECTORY, 7, "reason"))
            .join();
    RuntimeException told = told(other);
    assertNotSame(other, told);
    assertSame(other, told.getCause());
    assertSame(org.revenantdb.engine.CorruptDataException.class, told.getClass());
    assertEquals(other.getMessage(), told.getMessage());
    assertTrue(isInStack(told));
    assertFalse(isInStack(other));
  }

  private static boolean isInStack(Throwable one) {
    return Stream.of(one.getStackTrace())
        .anyMatch(frame ->
            frame.getClassName().equals(BoundaryTest.class.getName())
                && frame.getMethodName().startsWith("an_exception"));
  }

  // --------------------------------------------------------------------- what is not of the API

  /** The concrete exceptions of a package of the recovery module, a folder or an archive. */
  private static List<Class<?>> internal(String name) throws Exception {
    Module module = FileException.class.getModule();
    List<Class<?>> found = new ArrayList<>();
    try (ModuleReader reader =
        module
            .getLayer()
            .configuration()
            .findModule(module.getName())
            .orElseThrow()
            .reference()
            .open()) {
      for (String file : reader.list().toList()) {
        String type = file.replace('/', '.').replaceFirst("\\.class$", "");
        if (file.endsWith(".class") && type.matches(Pattern.quote(name) + "\\.\\w+Exception")) {
          Class<?> exception = Class.forName(type);
          if (RuntimeException.class.isAssignableFrom(exception)
              && !Modifier.isAbstract(exception.getModifiers())) {
            found.add(exception);
          }
        }
      }
    }
    return found;
  }

  @Test
  void each_exception_about_a_file_has_a_reason_and_keeps_its_message() throws Exception {
    List<Class<?>> found = internal("org.revenantdb.recovery.file");
    assertTrue(found.size() >= 11, found::toString);
    for (Class<?> type : found) {
      assertTrue(FileFailures.isKnown(type), () -> type + " has no reason in the API");
      RuntimeException one = internalOne(type);
      RuntimeException told = told(one);
      assertInstanceOf(org.revenantdb.engine.StorageException.class, told);
      assertSame(one, told.getCause());
      assertEquals(one.getMessage(), told.getMessage());
    }
  }

  @Test
  void each_exception_of_the_log_is_translated_to_one_of_the_api() throws Exception {
    List<Class<?>> found = internal("org.revenantdb.recovery.log");
    assertTrue(found.size() >= 2, found::toString);
    for (Class<?> type : found) {
      RuntimeException told = told(internalOne(type));
      assertInstanceOf(RevenantException.class, told);
      assertFalse(told instanceof InternalFailureException, () -> type + " is not expected");
    }
  }

  private static RuntimeException internalOne(Class<?> type) throws Exception {
    Constructor<?> constructor = type.getDeclaredConstructors()[0];
    constructor.setAccessible(true);
    List<Object> arguments = new ArrayList<>();
    for (Class<?> part : constructor.getParameterTypes()) {
      if (part == Path.class) {
        arguments.add(DIRECTORY);
      } else if (part == String.class) {
        arguments.add("text");
      } else if (part == long.class) {
        arguments.add(42L);
      } else if (part == int.class) {
        arguments.add(42);
      } else {
        arguments.add(new FileException(DIRECTORY, 1, "reason", "cure", null));
      }
    }
    return (RuntimeException) constructor.newInstance(arguments.toArray());
  }

  // ------------------------------------------------------------------------------- every class

  private static List<Class<?>> exceptions() throws Exception {
    Path classes =
        Path.of(
            RevenantException.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<Class<?>> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(classes.resolve("org/revenantdb/engine"))) {
      for (Path file : files.filter(path -> path.toString().endsWith("Exception.class")).toList()) {
        String name = file.getFileName().toString();
        Class<?> type =
            Class.forName("org.revenantdb.engine." + name.substring(0, name.length() - 6));
        if (RevenantException.class.isAssignableFrom(type)) {
          found.add(type);
        }
      }
    }
    return found;
  }

  /** A user who has to know more than a dozen knows none of them. */
  @Test
  void a_dozen_exceptions_at_most_are_public_and_all_have_one_root() throws Exception {
    List<Class<?>> all = publicExceptions();
    assertTrue(all.contains(RevenantException.class), all::toString);
    assertTrue(all.size() <= 12, all.size() + " public exceptions: " + all);
    for (Class<?> type : all) {
      assertTrue(RevenantException.class.isAssignableFrom(type), type + " has another root");
    }
  }

  private static List<Class<?>> publicExceptions() throws Exception {
    Path classes =
        Path.of(
            RevenantException.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<Class<?>> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(classes.resolve("org/revenantdb/engine"))) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.startsWith("package-info")) {
          Class<?> type =
              Class.forName("org.revenantdb.engine." + name.substring(0, name.length() - 6));
          if (Throwable.class.isAssignableFrom(type) && Modifier.isPublic(type.getModifiers())) {
            found.add(type);
          }
        }
      }
    }
    return found;
  }

  private static RevenantException made(Constructor<?> constructor) throws Exception {
    constructor.setAccessible(true);
    List<Object> arguments = new ArrayList<>();
    for (Class<?> type : constructor.getParameterTypes()) {
      arguments.add(
          type == Path.class
              ? DIRECTORY
              : type == String.class
                  ? "message"
                  : type == Throwable.class
                      ? new IllegalStateException("cause")
                      : type == boolean.class
                          ? (Object) true
                          : type == long.class ? (Object) 42L : type.getEnumConstants()[1]);
    }
    return (RevenantException) constructor.newInstance(arguments.toArray());
  }

  @Test
  void every_exception_is_made_again_for_another_thread_with_all_its_fields() throws Exception {
    assertTrue(exceptions().size() >= 9);
    for (Class<?> type : exceptions()) {
      for (Constructor<?> constructor : type.getDeclaredConstructors()) {
        RevenantException one = made(constructor);
        assertSame(one, ApiAccess.api().forCaller(one));
        RevenantException other =
            CompletableFuture.supplyAsync(() -> ApiAccess.api().forCaller(one)).join();
        assertNotSame(one, other, type.getName());
        assertSame(type, other.getClass());
        assertSame(one, other.getCause());
        assertEquals(one.getMessage(), other.getMessage());
        for (@Nullable Class<?> part = type;
            part != null && part != RuntimeException.class;
            part = part.getSuperclass()) {
          for (Field field : part.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && !field.getName().equals("madeBy")) {
              field.setAccessible(true);
              assertEquals(field.get(one), field.get(other), type + "." + field.getName());
            }
          }
        }
      }
    }
  }
}
