package org.revenantdb.engine.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.module.ResolvedModule;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A main class of the tests in a JVM of its own. */
public final class OtherProcess implements AutoCloseable {
  /** Most live for a second, in which an optimising compiler would not pay. */
  private static final List<String> QUICK =
      Boolean.getBoolean("revenant.long") ? List.of() : List.of("-XX:TieredStopAtLevel=1");

  private final Process process;
  private final BufferedReader output;

  private OtherProcess(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  public static OtherProcess start(Class<?> main, String... arguments) throws IOException {
    return start(main, List.of(), ProcessBuilder.Redirect.INHERIT, arguments);
  }

  public static OtherProcess start(
      Class<?> main, List<String> flags, ProcessBuilder.Redirect errors, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(QUICK);
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath(), main.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors);
    // The JVM announces these on standard error.
    builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    return new OtherProcess(builder.start());
  }

  /** All that this JVM has, as a class path. */
  private static String classPath() {
    Set<String> paths = new LinkedHashSet<>();
    ModuleLayer.boot().configuration().modules().stream()
        .map(ResolvedModule::reference)
        .flatMap(reference -> reference.location().stream())
        .filter(location -> location.getScheme().equals("file"))
        .forEach(location -> paths.add(Path.of(location).toString()));
    try {
      paths.add(
          Path.of(OtherProcess.class.getProtectionDomain().getCodeSource().getLocation().toURI())
              .toString());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
    paths.addAll(List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
    // Test classes are patched into the module of the engine.
    paths.add(Path.of("target", "test-classes").toAbsolutePath().toString());
    return String.join(File.pathSeparator, paths);
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** The next line of its output, or null at its end. */
  public String readLine() throws IOException {
    return output.readLine();
  }

  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Waits for its end; its exit code. */
  public int waitFor() throws InterruptedException {
    return process.waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
