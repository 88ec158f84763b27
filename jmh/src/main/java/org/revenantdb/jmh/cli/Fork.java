package org.revenantdb.jmh.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.revenantdb.chaos.crash.Scratch;

/**
 * A separate JVM for a measurement. It reports its results in lines {@code = name number}; all
 * other output is progress.
 *
 * <p>It is this JVM's own {@code java}, with this class path and the flags named here, no others.
 */
final class Fork {
  private static final String RESULT = "= ";

  private final String main;
  private final List<String> flags;
  private final Duration limit;
  private final String classPath;
  private final List<String> prefix;

  /**
   * Describes one.
   *
   * @param main the class whose {@code main} runs
   * @param flags of the JVM
   * @param limit after which it is killed: something in it must hang
   */
  Fork(Class<?> main, List<String> flags, Duration limit) {
    this(main.getName(), flags, limit, System.getProperty("java.class.path"));
  }

  /**
   * Describes one with a class path of its own.
   *
   * @param main name of the class whose {@code main} runs
   * @param flags of the JVM
   * @param limit after which it is killed: something in it must hang
   * @param classPath of the JVM
   */
  Fork(String main, List<String> flags, Duration limit, String classPath) {
    this(main, flags, limit, classPath, List.of());
  }

  private Fork(
      String main, List<String> flags, Duration limit, String classPath, List<String> prefix) {
    this.prefix = List.copyOf(prefix);
    this.main = main;
    this.flags = List.copyOf(flags);
    this.limit = limit;
    this.classPath = classPath;
  }

  /** The same, but classes in a folder come before those of the same name. */
  Fork withClassesFrom(Path folder) {
    return new Fork(main, flags, limit, folder + File.pathSeparator + classPath, prefix);
  }

  /** The same, but all its memory, its pages in the cache of the system included, is limited. */
  Fork in(MemoryGroup group) {
    return new Fork(main, flags, limit, classPath, group.prefix());
  }

  /**
   * The results of a fork.
   *
   * @param values by name, in the order in which they came; those that came before a failure, too
   * @param failure a sentence; empty if there was none
   */
  record Said(Map<String, Double> values, String failure) {
    boolean failed() {
      return !failure.isEmpty();
    }
  }

  /** Runs it, once; waits for its end. */
  Said run(String... arguments) throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath, main));
    command.addAll(Arrays.asList(arguments));
    Process process =
        Scratch.start(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT));
    Map<String, Double> values = new LinkedHashMap<>();
    Thread reader = Thread.ofPlatform().daemon().start(() -> read(process, values));
    try {
      boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      if (!ended) {
        process.destroyForcibly().waitFor();
      }
      reader.join(); // before anything closes the pipe: the last lines may still be in it
      return new Said(values, failure(process, ended));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return new Said(Map.of(), "interrupted");
    } finally {
      process.destroyForcibly(); // if we were interrupted; it has ended otherwise
    }
  }

  private String failure(Process process, boolean ended) {
    String name = main.substring(main.lastIndexOf('.') + 1);
    if (!ended) {
      return name + " did not end within " + limit.toSeconds() + " s";
    }
    return process.exitValue() == 0 ? "" : name + " ended with exit code " + process.exitValue();
  }

  private static void read(Process process, Map<String, Double> values) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        int space = line.lastIndexOf(' ');
        if (line.startsWith(RESULT) && space > RESULT.length()) {
          values.put(
              line.substring(RESULT.length(), space), Double.valueOf(line.substring(space + 1)));
        } else {
          System.err.println(line);
        }
      }
    } catch (IOException e) {
      System.err.println("nothing more from " + process + ": " + e.getMessage());
    }
  }
}
