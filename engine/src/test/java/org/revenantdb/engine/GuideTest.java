package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The Java blocks of the README and of the guide compile and run.
 *
 * <p>The blocks of a page are one program ({@link DocumentPage}). A class in a block is a local
 * class of it; if the class has methods with {@code @Test}, each runs on an instance of its own
 * after the program. A page finds an empty folder in the variable {@code directory}.
 */
class GuideTest {
  private static final Path README = Path.of("..", "README.md");
  private static final Path GUIDE = Path.of("..", "docs", "guide");

  /** Their blocks need modules that are compiled after this one, which run them. */
  private static final Set<String> OF_OTHERS = Set.of("typed-tables.md", "kafka-streams.md");

  private static final List<String> EXCEPTIONS = List.of("src/main/java/org/revenantdb/engine");

  static List<Path> pages() throws Exception {
    List<Path> pages = new ArrayList<>(List.of(README));
    try (Stream<Path> files = Files.list(GUIDE)) {
      files
          .filter(file ->
              file.toString().endsWith(".md")
                  && !OF_OTHERS.contains(String.valueOf(file.getFileName())))
          .sorted()
          .forEach(pages::add);
    }
    return pages;
  }

  @ParameterizedTest
  @MethodSource("pages")
  void each_java_block_compiles_and_runs(Path file, @TempDir Path classes, @TempDir Path directory)
      throws Exception {
    DocumentPage page = DocumentPage.read(file);
    if (page.hasJava()) {
      compileAndRun(page, classes, directory);
    }
  }

  private static void compileAndRun(DocumentPage page, Path classes, Path directory)
      throws Exception {
    String junit = System.getProperty("java.class.path");
    page.compileInto(classes, DocumentPage.classPathOfUser() + File.pathSeparator + junit);
    URL[] urls = {classes.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(urls, GuideTest.class.getClassLoader())) {
      Class<?> program = loader.loadClass(page.className());
      program.getField("directory").set(null, Files.createDirectory(directory.resolve("program")));
      program.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
      for (Class<?> type : compiled(classes, loader)) {
        for (Method method : type.getDeclaredMethods()) {
          if (method.isAnnotationPresent(Test.class)) {
            runTest(type, method, Files.createDirectory(directory.resolve(method.getName())));
          }
        }
      }
    } catch (InvocationTargetException thrown) {
      Throwable cause = thrown.getCause();
      throw new AssertionError(page.place(cause) + " threw " + cause, cause);
    }
  }

  private static List<Class<?>> compiled(Path classes, ClassLoader loader) throws Exception {
    List<Class<?>> types = new ArrayList<>();
    try (Stream<Path> files = Files.list(classes)) {
      for (String name : files.map(file -> file.getFileName().toString()).sorted().toList()) {
        if (name.endsWith(".class")) {
          types.add(loader.loadClass(name.replace(".class", "")));
        }
      }
    }
    return types;
  }

  private static void runTest(Class<?> type, Method method, Path directory) throws Exception {
    Constructor<?> constructor = type.getDeclaredConstructor();
    constructor.setAccessible(true);
    Object instance = constructor.newInstance();
    for (Field field : type.getDeclaredFields()) {
      if (field.isAnnotationPresent(TempDir.class)) {
        field.setAccessible(true);
        field.set(instance, directory);
      }
    }
    method.setAccessible(true);
    method.invoke(instance);
  }

  @Test
  void each_exception_that_a_user_can_meet_has_a_line_in_the_page_of_errors() throws Exception {
    String errors = Files.readString(GUIDE.resolve("errors.md"));
    List<String> missing = new ArrayList<>();
    for (String sources : EXCEPTIONS) {
      try (Stream<Path> files = Files.list(Path.of(sources))) {
        files
            .map(file -> file.getFileName().toString())
            .filter(name -> name.endsWith("Exception.java"))
            .map(name -> "`" + name.replace(".java", "") + "`")
            .filter(name -> !errors.contains(name))
            .forEach(missing::add);
      }
    }
    List<Enum<?>> reasons = new ArrayList<>();
    reasons.addAll(List.of(ConflictReason.values()));
    reasons.addAll(List.of(LimitException.Reason.values()));
    reasons.addAll(List.of(StorageException.Reason.values()));
    reasons.addAll(List.of(CatalogException.Reason.values()));
    reasons.addAll(List.of(TransactionStateException.Reason.values()));
    reasons.stream()
        .map(reason -> "`" + reason.name() + "`")
        .filter(name -> !errors.contains(name))
        .forEach(missing::add);
    assertEquals(List.of(), missing);
  }

  @Test
  void a_block_that_does_not_compile_is_reported_with_page_and_line(@TempDir Path folder)
      throws Exception {
    assertReported(folder, "String text = 1;", "page.md:4: error: incompatible types");
  }

  @Test
  void a_block_that_throws_is_reported_with_page_and_line(@TempDir Path folder) throws Exception {
    assertReported(folder, "List.of(1).get(1);", "page.md:4 threw java.lang.IndexOutOfBounds");
  }

  private static void assertReported(Path folder, String line, String message) throws Exception {
    Path file = folder.resolve("page.md");
    Files.writeString(file, "# Page\n\n```java\n" + line + "\n```\n");
    Path classes = Files.createDirectory(folder.resolve("classes"));
    Path directory = Files.createDirectory(folder.resolve("directory"));
    try {
      compileAndRun(DocumentPage.read(file), classes, directory);
    } catch (AssertionError reported) {
      String found = String.valueOf(reported.getMessage());
      assertTrue(found.contains(message), found);
      return;
    }
    throw new AssertionError("the broken block was accepted");
  }
}
