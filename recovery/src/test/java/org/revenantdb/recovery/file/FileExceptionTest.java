package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What another thread gets of an exception: one of its own. */
class FileExceptionTest {
  private static final Path FILE = Path.of("file");

  static List<FileException> all() {
    Throwable cause = new IllegalArgumentException("cause");
    return List.of(
        new FileException(FILE, 1, "reason", "cure", cause),
        new StorageIOException(FILE, 2, "reason", "cure", cause),
        new DamagedFileException(FILE, 3, "reason", "cure", cause),
        new DatabaseLockedException(FILE, "reason", "cure", 4, cause),
        new DiskFullException(FILE, 5, "reason", "cure", cause),
        new ForceFailedException(FILE, "reason", cause),
        new FormatVersionException(FILE, 6, 7, 8),
        FormatVersionException.pageSize(FILE, 9, 10, 11),
        new MissingFileException(FILE, 12, "reason", "cure", cause),
        new NotADatabaseException(FILE, 13, "reason", "cure", cause),
        new OwnershipLostException(FILE, "reason", "cure", cause),
        new ReadOnlyStorageException(FILE, 14, "reason", "cure", cause));
  }

  private static FileException inAnotherThread(FileException one) throws Exception {
    CompletableFuture<FileException> made = new CompletableFuture<>();
    Thread caller = new Thread(() -> made.complete(one.forCaller()));
    caller.start();
    caller.join();
    return made.join();
  }

  @ParameterizedTest
  @MethodSource("all")
  void another_thread_gets_an_exception_of_the_same_class_with_the_same_fields_and_its_own_stack(
      FileException one) throws Exception {
    FileException other = inAnotherThread(one);
    assertNotSame(one, other);
    assertSame(one.getClass(), other.getClass());
    assertSame(one, other.getCause());
    assertEquals(one.getMessage(), other.getMessage());
    for (@Nullable Class<?> type = one.getClass();
        type != null && type != RuntimeException.class;
        type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !field.getName().equals("madeBy")) {
          field.setAccessible(true);
          assertEquals(field.get(one), field.get(other), field.getName());
        }
      }
    }
    boolean hasOwnStack =
        Stream.of(other.getStackTrace())
            .anyMatch(frame -> frame.getMethodName().contains("inAnotherThread"));
    assertTrue(hasOwnStack, List.of(other.getStackTrace()).toString());
  }

  @Test
  void every_class_of_trouble_with_files_is_copied_by_the_test_above() throws Exception {
    Path classes =
        Path.of(FileException.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Set<String> there = new TreeSet<>();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(path -> path.toString().endsWith("Exception.class")).toList()) {
        String path = classes.relativize(file).toString();
        Class<?> type =
            Class.forName(
                path.substring(0, path.length() - 6)
                    .replace(file.getFileSystem().getSeparator(), "."));
        if (FileException.class.isAssignableFrom(type)) {
          there.add(type.getName());
        }
      }
    }
    Set<String> copied = new TreeSet<>();
    all().forEach(one -> copied.add(one.getClass().getName()));
    assertEquals(there, copied);
  }

  @Test
  void what_one_thread_adds_to_its_exception_another_does_not_see() throws Exception {
    FileException one = new FileException(FILE, 1, "reason", "cure", null);
    assertSame(one, one.forCaller());
    FileException other = inAnotherThread(one);
    other.addSuppressed(new IllegalStateException());
    assertEquals(0, one.getSuppressed().length);
    assertNull(one.getCause());
  }
}
