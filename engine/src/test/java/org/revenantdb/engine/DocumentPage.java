package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor.Requires.Modifier;
import java.lang.module.ResolvedModule;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.spi.ToolProvider;

/**
 * A page of documentation as a Java program: the {@code main} method of a class without a package.
 *
 * <p>The program has the text of all Java blocks in order, so later blocks use what earlier ones
 * declare. Imports move to the first line of the source; a page without imports gets the usual
 * ones. Each other line of a block has the line number that it has in the page, so compiler
 * messages and stack traces show lines of the page.
 *
 * @param file the page
 * @param className name of the class
 * @param source text of the class
 */
record DocumentPage(Path file, String className, String source) {
  private static final String IMPORTS =
      "import java.nio.file.*; import java.util.*; import org.revenantdb.engine.*; ";

  static DocumentPage read(Path file) throws IOException {
    StringBuilder imports = new StringBuilder();
    StringBuilder body = new StringBuilder();
    boolean isJava = false;
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith("```")) {
        isJava = line.strip().equals("```java");
      } else if (isJava && line.startsWith("import ")) {
        imports.append(line).append(' ');
      } else if (isJava) {
        body.append(line);
      }
      body.append('\n');
    }
    String className = file.getFileName().toString().replace(".md", "").replace('-', '_');
    return new DocumentPage(
        file,
        className,
        (imports.isEmpty() ? IMPORTS : imports)
            + ("public final class "
                + className
                + " { public static java.nio.file.Path directory; ")
            + "public static void main(String[] arguments) throws Exception {"
            + body
            + "}}\n");
  }

  boolean hasJava() {
    return !source.substring(source.indexOf('\n')).replace("}}", "").isBlank();
  }

  /** Compiles the page; a message of the compiler has its file and line. */
  void compileInto(Path folder, String classPath) throws IOException {
    Path java = folder.resolve(className + ".java");
    Files.writeString(java, source);
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
                classPath,
                "-d",
                folder.toString(),
                java.toString());
    writer.flush();
    assertEquals("", output.toString().replace(java.toString(), file.toString()));
    assertEquals(0, code, () -> "javac of " + file);
  }

  /** What a user gets: the engine and all that it requires, but nothing it requires optionally. */
  static String classPathOfUser() {
    Set<String> paths = new TreeSet<>();
    collect("org.revenantdb.engine", paths);
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

  /** The frame of the page in a stack trace, as a place in the page. */
  String place(Throwable thrown) {
    List<Integer> lines = new ArrayList<>();
    for (StackTraceElement frame : thrown.getStackTrace()) {
      if (frame.getClassName().startsWith(className)) {
        lines.add(frame.getLineNumber());
      }
    }
    return file + (lines.isEmpty() ? "" : ":" + lines.getFirst());
  }
}
