package org.revenantdb.recovery.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A runtime image with an application of one class, {@code app.Main}: compiled on the module path,
 * linked, and run without a flag. It finds the modules of the project, and those that they require,
 * where this process has them.
 */
public final class LinkedImage {
  private final Path folder;

  /**
   * Makes it.
   *
   * @param folder an empty one
   * @param module the module that the application requires
   * @param main the source of {@code app.Main}
   */
  public LinkedImage(Path folder, String module, String main)
      throws IOException, InterruptedException {
    this.folder = folder;
    Path source = Files.createDirectories(folder.resolve("source"));
    Path modules = folder.resolve("modules");
    Files.writeString(
        source.resolve("module-info.java"), "module app { requires " + module + "; }");
    Files.writeString(source.resolve("Main.java"), main);
    String path = projectModules();
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
        image().toString());
  }

  private Path image() {
    return folder.resolve("image");
  }

  /** Runs the application; what it and the JVM print, without spaces at the ends. */
  public String run(Path argument) throws IOException, InterruptedException {
    return output(
        image().resolve("bin").resolve("java").toString(),
        "-m",
        "app/app.Main",
        argument.toString());
  }

  private static String projectModules() {
    return ModuleLayer.boot().configuration().modules().stream()
        .filter(module -> isOfProject(module.name()))
        .map(module -> Path.of(module.reference().location().orElseThrow()).toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static boolean isOfProject(String module) {
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
