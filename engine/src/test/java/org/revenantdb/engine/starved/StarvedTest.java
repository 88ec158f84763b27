package org.revenantdb.engine.starved;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.module.ResolvedModule;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * An engine whose heap or stack runs out: {@link StarvedRounds} in JVMs of their own.
 *
 * <p>{@code revenant.long} (set by {@code -Plong}) takes 5,000 rounds of each kind; {@code
 * starved.seed} repeats a seed, which a failure prints, {@code starved.rounds} sets the rounds of a
 * JVM.
 */
class StarvedTest {
  private static final boolean LONG = Boolean.getBoolean("revenant.long");

  /** Each has its seed. */
  private static final int JVMS = LONG ? 10 : 1;

  private static final int ROUNDS = Integer.getInteger("starved.rounds", LONG ? 500 : 6);

  /** The usual build repeats the same rounds; the long form looks for new ones. */
  private static final long SEED =
      Long.getLong("starved.seed", LONG ? System.nanoTime() : 20_261_125);

  @Test
  void anErrorAtAnyAllocation_leavesAnEngineThatWorksOrHasStoppedAndLosesNothing()
      throws Exception {
    run(StarvedMain.class, StarvedRounds.Mode.HEAP);
  }

  @Test
  void aStackThatEndsAnywhere_leavesAnEngineThatWorksAndLosesNothing() throws Exception {
    assumeTrue(LONG, "only in the long form");
    run(StarvedRounds.class, StarvedRounds.Mode.STACK);
  }

  @Test
  void aHeapThatIsFullNowAndThen_leavesAnEngineThatWorksOrHasStoppedAndLosesNothing()
      throws Exception {
    assumeTrue(LONG, "only in the long form: each round collects garbage all the time");
    run(StarvedRounds.class, StarvedRounds.Mode.FULL);
  }

  @Test
  void aWatcherOfForgottenTransactionsWithoutMemory_goesOnWhenThereIsSome() throws Exception {
    run(StarvedMain.class, StarvedRounds.Mode.WATCHER, /* jvms= */ 1, LONG ? 3 : 1);
  }

  private static void run(Class<?> main, StarvedRounds.Mode mode) throws Exception {
    run(main, mode, JVMS, ROUNDS);
  }

  private static void run(Class<?> main, StarvedRounds.Mode mode, int jvms, int rounds)
      throws Exception {
    for (int i = 0; i < jvms; i++) {
      String seed = Long.toString(SEED + i);
      List<String> command =
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-ea",
              // With the watch for latches that nobody gives back,
              // and without: it changes the pace.
              "-Drevenant.latch.debug="
                  + (mode == StarvedRounds.Mode.HEAP && i % 2 == 0 ? "holds" : "false"),
              "-Xmx" + (mode == StarvedRounds.Mode.FULL ? "96m" : "384m"),
              "-XX:MaxDirectMemorySize=64m",
              "-cp",
              classPath(),
              main.getName(),
              mode.toString(),
              seed,
              Integer.toString(rounds));
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      // The JVM announces these.
      builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
      Process process = builder.start();
      List<String> lines = new ArrayList<>();
      try (BufferedReader output =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
          if (!line.startsWith("round ")) {
            lines.add(line);
          }
        }
      } finally {
        process.destroyForcibly();
      }
      System.out.println("starved " + mode + ", seed " + seed + ": " + last(lines));
      assertEquals(
          0,
          process.waitFor(),
          () -> "-Dstarved.seed=" + seed + ", " + mode + "\n" + String.join("\n", lines));
    }
  }

  private static String last(List<String> lines) {
    return lines.isEmpty() ? "nothing was said" : lines.getLast();
  }

  /** All that this JVM has, as a class path. */
  private static String classPath() throws URISyntaxException {
    Set<String> paths = new LinkedHashSet<>();
    ModuleLayer.boot().configuration().modules().stream()
        .map(ResolvedModule::reference)
        .flatMap(reference -> reference.location().stream())
        .filter(location -> location.getScheme().equals("file"))
        .forEach(location -> paths.add(Path.of(location).toString()));
    paths.add(
        Path.of(StarvedTest.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .toString());
    paths.addAll(List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
    // Test classes are patched into the module of the engine.
    paths.add(Path.of("target", "test-classes").toAbsolutePath().toString());
    return String.join(File.pathSeparator, paths);
  }
}
