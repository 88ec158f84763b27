package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor.Requires.Modifier;
import java.lang.module.ResolvedModule;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Java blocks of the page of the guide on typed tables are one program, which compiles against
 * what a user gets, and runs.
 */
class TypedGuideTest {
  private static final Path PAGE = Path.of("..", "docs", "guide", "typed-tables.md");

  @Test
  void the_blocks_of_the_page_compile_and_run(@TempDir Path folder) throws Exception {
    Path source = folder.resolve("typed_tables.java");
    Files.writeString(source, program());
    Path classes = Files.createDirectory(folder.resolve("classes"));
    StringWriter output = new StringWriter();
    PrintWriter writer = new PrintWriter(output);
    int code =
        ToolProvider.findFirst("javac")
            .orElseThrow(() -> new AssertionError("run the tests on a JDK, which has javac"))
            .run(
                writer,
                writer,
                "-proc:none",
                "-cp",
                classPath(),
                "-d",
                classes.toString(),
                source.toString());
    writer.flush();
    assertEquals("", output.toString());
    assertEquals(0, code);
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
      Class<?> program = loader.loadClass("typed_tables");
      program.getField("directory").set(null, Files.createDirectory(folder.resolve("program")));
      program.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
  }

  /** Each line has the number that it has in the page. */
  private static String program() throws Exception {
    StringBuilder imports = new StringBuilder();
    StringBuilder body = new StringBuilder();
    boolean isJava = false;
    for (String line : Files.readAllLines(PAGE)) {
      if (line.startsWith("```")) {
        isJava = line.strip().equals("```java");
      } else if (isJava && line.startsWith("import ")) {
        imports.append(line).append(' ');
      } else if (isJava) {
        body.append(line);
      }
      body.append('\n');
    }
    return imports
        + "public final class typed_tables { public static java.nio.file.Path directory; "
        + "public static void main(String[] arguments) throws Exception {"
        + body
        + "}}\n";
  }

  private static String classPath() {
    Set<String> paths = new TreeSet<>();
    collect("org.revenantdb.collections", paths);
    return String.join(File.pathSeparator, paths);
  }

  private static void collect(String name, Set<String> paths) {
    ResolvedModule module = ModuleLayer.boot().configuration().findModule(name).orElseThrow();
    URI location = module.reference().location().orElseThrow();
    if (location.getScheme().equals("file") && paths.add(Path.of(location).toString())) {
      module.reference().descriptor().requires().stream()
          .filter(required -> !required.modifiers().contains(Modifier.STATIC))
          .forEach(required -> collect(required.name(), paths));
    }
  }
}
