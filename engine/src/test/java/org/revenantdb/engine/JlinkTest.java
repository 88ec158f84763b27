package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application that requires the module of the engine and no other is compiled on the module
 * path, linked into a runtime image, and run there without a flag.
 */
@Tag("slow")
class JlinkTest {
  private static final String MODULE =
      """
      module app {
        requires org.revenantdb.engine;
      }
      """;

  private static final String MAIN =
      """
      package app;

      import java.nio.file.Path;
      import org.revenantdb.engine.Database;
      import org.revenantdb.engine.RevenantException;
      import org.revenantdb.engine.StorageException;
      import org.revenantdb.engine.Table;

      final class Main {
        private Main() {}

        public static void main(String[] arguments) {
          Path directory = Path.of(arguments[0]);
          try (Database db = Database.open(directory)) {
            Table table = db.getOrCreateTable("t");
            db.run(tx -> tx.put(table, new byte[] {1}, new byte[100_000]));
            int length = db.read(tx -> tx.get(table, new byte[] {1})).length;
            boolean sound = db.check().isSound();
            try {
              Database.open(directory).close();
            } catch (StorageException locked) {
              System.out.println(length + " " + sound + " " + locked.reason());
            }
          } catch (RevenantException failure) {
            System.out.println(failure);
          }
        }
      }
      """;

  @TempDir private Path folder;

  @Test
  void an_application_that_requires_the_engine_alone_runs_from_a_linked_image() throws Exception {
    Path source = Files.createDirectories(folder.resolve("source"));
    Path modules = folder.resolve("modules");
    Path image = folder.resolve("image");
    Files.writeString(source.resolve("module-info.java"), MODULE);
    Files.writeString(source.resolve("Main.java"), MAIN);
    String path = engineModules();
    run(
        "javac",
        "-Werror",
        "--module-path",
        path,
        "-d",
        modules.resolve("app").toString(),
        source.resolve("module-info.java").toString(),
        source.resolve("Main.java").toString());
    run(
        "jlink",
        "--module-path",
        path + File.pathSeparator + modules,
        "--add-modules",
        "app",
        "--output",
        image.toString());
    assertEquals(
        "100000 true LOCKED",
        output(
            image.resolve("bin").resolve("java").toString(),
            "-m",
            "app/app.Main",
            folder.resolve("db").toString()));
  }

  /** Where the modules of the project, and those that they require, are for this test. */
  private static String engineModules() {
    return ModuleLayer.boot().configuration().modules().stream()
        .filter(module -> isOfEngine(module.name()))
        .map(module -> Path.of(module.reference().location().orElseThrow()).toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static boolean isOfEngine(String module) {
    return module.startsWith("org.revenantdb.") || module.startsWith("org.jctools.");
  }

  /** In a process of its own: jlink refuses to link from this one, whose modules are patched. */
  private static void run(String tool, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(arguments));
    command.addFirst(Path.of(System.getProperty("java.home"), "bin", tool).toString());
    output(command.toArray(String[]::new));
  }

  /** Standard output and standard error together: a warning would be seen. */
  private static String output(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(List.of(command)).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), text);
    return text.strip();
  }
}
