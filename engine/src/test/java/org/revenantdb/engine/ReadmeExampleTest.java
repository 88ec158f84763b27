package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Java blocks of the README compile and run as a program ({@link DocumentPage}), which writes
 * nothing to standard error, whatever a JVM is configured to refuse. {@link GuideTest} runs the
 * guide.
 */
class ReadmeExampleTest {
  private static final Path README = Path.of("..", "README.md");

  @TempDir private Path folder;

  @BeforeEach
  void compile() throws Exception {
    DocumentPage page = DocumentPage.read(README);
    assertTrue(page.hasJava(), "the README shows no java block");
    Path source = folder.resolve(page.className() + ".java");
    Files.writeString(source, page.source());
    assertRunsSilently(
        "javac", "-cp", DocumentPage.classPathOfUser(), "-d", folder.toString(), source.toString());
  }

  @Test
  void example_runsSilently_onTheClassPath() throws Exception {
    assertRunsSilently(
        "java", "-cp", DocumentPage.classPathOfUser() + File.pathSeparator + folder, "README");
  }

  @Test
  void example_runsSilently_withUnsafeAndNativeAccessDenied() throws Exception {
    assertRunsSilently(
        "java",
        "--sun-misc-unsafe-memory-access=deny",
        "--illegal-native-access=deny",
        "-cp",
        DocumentPage.classPathOfUser() + File.pathSeparator + folder,
        "README");
  }

  @Test
  void example_runsSilently_onTheModulePath() throws Exception {
    assertRunsSilently(
        "java",
        "-p",
        DocumentPage.classPathOfUser(),
        "--add-modules",
        "org.revenantdb.engine",
        "-cp",
        folder.toString(),
        "README");
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
}
