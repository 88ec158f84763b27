package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.module.ModuleDescriptor.Requires.Modifier;
import java.lang.module.ResolvedModule;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The first Java block of the README is imports and statements; as the body of a {@code main} it
 * compiles and runs, and says nothing on standard error, whatever a JVM is told to refuse.
 */
class ReadmeExampleTest {
  private static final Path README = Path.of("..", "README.md");
  private static final Pattern FIRST_JAVA_BLOCK =
      Pattern.compile("^```java\\s*\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

  @TempDir private Path folder;

  @BeforeEach
  void compile() throws Exception {
    Path source = folder.resolve("Readme.java");
    Files.writeString(source, asProgram(firstJavaBlock(Files.readString(README))));
    assertRunsSilently("javac", "-cp", classPath(), "-d", folder.toString(), source.toString());
  }

  @Test
  void example_runsSilently_onTheClassPath() throws Exception {
    assertRunsSilently("java", "-cp", classPath() + File.pathSeparator + folder, "Readme");
  }

  @Test
  void example_runsSilently_withUnsafeAndNativeAccessDenied() throws Exception {
    assertRunsSilently(
        "java",
        "--sun-misc-unsafe-memory-access=deny",
        "--illegal-native-access=deny",
        "-cp",
        classPath() + File.pathSeparator + folder,
        "Readme");
  }

  @Test
  void example_runsSilently_onTheModulePath() throws Exception {
    assertRunsSilently(
        "java",
        "-p",
        classPath(),
        "--add-modules",
        "org.revenantdb.engine",
        "-cp",
        folder.toString(),
        "Readme");
  }

  /** Runs a tool of this JDK in an empty folder of its own. */
  private void assertRunsSilently(String tool, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", tool).toString());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    // The JVM announces these on standard error.
    builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    Path errors = folder.resolve(tool + ".stderr");
    Process process =
        builder
            .directory(Files.createDirectory(folder.resolve("in-" + tool)).toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(errors.toFile())
            .start();
    try {
      int code = process.waitFor();
      assertEquals("", Files.readString(errors), "standard error of " + tool);
      assertEquals(0, code, "exit code of " + tool);
    } finally {
      process.destroyForcibly(); // if the wait was given up
    }
  }

  private static String firstJavaBlock(String readme) {
    Matcher block = FIRST_JAVA_BLOCK.matcher(readme);
    assertTrue(block.find(), "the README shows no java block");
    return block.group(1);
  }

  /** Imports stay on top; all else becomes the body of a main that may throw. */
  private static String asProgram(String block) {
    StringBuilder imports = new StringBuilder();
    StringBuilder body = new StringBuilder();
    block
        .lines()
        .forEach(line ->
            (line.strip().startsWith("import ") ? imports : body).append(line).append('\n'));
    return imports
        + "final class Readme {\n"
        + "public static void main(String[] args) throws Exception {\n"
        + body
        + "}\n}\n";
  }

  /** What a user gets: the engine and all that it requires, but nothing it requires optionally. */
  private static String classPath() {
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
}
