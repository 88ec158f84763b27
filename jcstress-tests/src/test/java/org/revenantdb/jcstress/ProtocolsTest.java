package org.revenantdb.jcstress;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.grading.ReportUtils;
import org.openjdk.jcstress.infra.runners.TestList;

/**
 * Runs every jcstress test of this module in forked JVMs: a claim must hold, a twin must break.
 *
 * <p>System properties: {@code jcstress.tests}, a regular expression, chooses tests; {@code
 * jcstress.args} replaces the mode; {@code revenant.long} (set by {@code -Plong}) takes jcstress's
 * default mode instead of a few seconds a test. The reports are {@code
 * target/jcstress/compiled/index.html}, {@code unbroken1} and on beside it (or {@code all}).
 */
@Tag("slow") // runs beside the Lincheck tests, which use the processor while a fork starts
class ProtocolsTest {
  // -fsm: one fork with the compiler's random choices, not five; half of the time went there.
  private static final String SHORT = "-m default -f 1 -fsm 1 -iters 1 -time 200 -sc false";

  /**
   * All tests run as C2 compiles them. Twins that did not break there also run in every other mode,
   * because it is a matter of luck in which one they break.
   */
  private static final String SHORT_AS_C2_COMPILES = SHORT + " -jvmArgs -XX:-TieredCompilation";

  /** Of the claims a build runs one in so many, and of the twins; the seed draws which. */
  private static final int CLAIMS = 7;

  private static final int TWINS = 16;

  private static final long SEED =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  /** A twin with a window of a few instructions is missed by one round in a few dozen. */
  private static final int ROUNDS_FOR_THE_UNBROKEN = 4;

  private static final String LONG = "-m default";

  private static final Path FOLDER = Path.of("target", "jcstress").toAbsolutePath();
  private static final String SILENT = "--enable-native-access=ALL-UNNAMED"; // JNA loads a library

  @TestFactory
  Stream<DynamicTest> claims_hold_and_their_broken_twins_are_seen_to_fail() throws Exception {
    assumeTrue(
        Runtime.getRuntime().availableProcessors() > 1,
        "jcstress gives each actor a processor, and there is one");
    Pattern chosen = Pattern.compile(System.getProperty("jcstress.tests", ""));
    Collection<String> tests = new TreeSet<>(TestList.tests());
    tests.removeIf(test -> !chosen.matcher(test).find());
    if (isShort() && System.getProperty("jcstress.tests") == null) {
      System.out.println("ProtocolsTest -Drevenant.seed=" + SEED);
      tests.removeIf(
          test -> Math.floorMod(test.hashCode() + SEED, isTwin(test) ? TWINS : CLAIMS) != 0);
    }
    assertFalse(tests.isEmpty(), "no jcstress test was generated or chosen");
    Map<String, List<TestResult>> results = run(tests);
    return tests.stream()
        .map(test -> dynamicTest(shortName(test), () -> judge(test, results.get(test))));
  }

  /** Runs jcstress and returns its results by the name of the test. */
  private static Map<String, List<TestResult>> run(Collection<String> tests) throws Exception {
    deleteFolder();
    String wanted = System.getProperty("jcstress.args");
    if (!isShort()) {
      return run("all", tests, wanted != null ? wanted : LONG);
    }
    Map<String, List<TestResult>> results = run("compiled", tests, SHORT_AS_C2_COMPILES);
    for (int round = 1; round <= ROUNDS_FOR_THE_UNBROKEN; round++) {
      List<String> unbroken = unbroken(tests, results);
      run("unbroken" + round, unbroken, SHORT)
          .forEach((test, runs) -> results.get(test).addAll(runs));
    }
    return results;
  }

  private static boolean isShort() {
    return System.getProperty("jcstress.args") == null && !Boolean.getBoolean("revenant.long");
  }

  private static boolean isTwin(String test) {
    try {
      return classOf(test).isAnnotationPresent(BrokenTwin.class);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> unbroken(
      Collection<String> tests, Map<String, List<TestResult>> results) throws Exception {
    List<String> unbroken = new ArrayList<>();
    for (String test : tests) {
      List<TestResult> runs = results.get(test);
      if (runs != null && mustBreak(test) && !isSeenToBreak(runs)) {
        unbroken.add(test);
      }
    }
    return unbroken;
  }

  private static boolean mustBreak(String test) throws ClassNotFoundException {
    BrokenTwin twin = classOf(test).getAnnotation(BrokenTwin.class);
    return twin != null && twin.mustShow();
  }

  private static boolean isSeenToBreak(List<TestResult> runs) {
    return runs.stream().filter(ProtocolsTest::hasStarted).anyMatch(ProtocolsTest::breaks);
  }

  private static boolean hasStarted(TestResult run) {
    return run.status() != Status.API_MISMATCH;
  }

  private static boolean breaks(TestResult run) {
    return run.grading().hasInteresting || !run.grading().isPassed;
  }

  private static Map<String, List<TestResult>> run(
      String what, Collection<String> tests, String arguments) throws Exception {
    if (tests.isEmpty()) {
      return new TreeMap<>();
    }
    Path folder = FOLDER.resolve(what);
    Files.createDirectories(folder);
    Path output = folder.resolve("output.txt");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(SILENT);
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add("org.openjdk.jcstress.Main");
    command.addAll(List.of("-jvmArgsPrepend", SILENT));
    String chosen = tests.stream().map(Pattern::quote).collect(joining("|", "^(", ")$"));
    command.addAll(List.of("-t", chosen, "-r", folder.toString()));
    command.addAll(List.of(arguments.strip().split(" +")));
    Process jcstress =
        new ProcessBuilder(command)
            .directory(folder.toFile()) // it leaves its results where it stands
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      jcstress.waitFor();
    } finally { // if the wait was given up
      jcstress.descendants().forEach(ProcessHandle::destroyForcibly);
      jcstress.destroyForcibly();
    }
    return read(resultFile(folder, output));
  }

  private static Path resultFile(Path folder, Path output) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".bin.gz"))
          .findFirst()
          .orElseThrow(() -> new AssertionError("jcstress left no results; see " + output));
    }
  }

  private static Map<String, List<TestResult>> read(Path file) throws Exception {
    InProcessCollector all = new InProcessCollector();
    DiskReadCollector reader = new DiskReadCollector(file.toString(), all);
    reader.dump();
    reader.close();
    Map<String, List<TestResult>> results = new TreeMap<>();
    for (TestResult result : all.getTestResults()) {
      results.computeIfAbsent(result.getName(), _ -> new ArrayList<>()).add(result);
    }
    return results;
  }

  private static void judge(String test, List<TestResult> runs) throws ClassNotFoundException {
    assumeTrue(runs != null, "not run: it needs more processors than there are");
    boolean isClaim = !isTwin(test);
    for (TestResult run : runs.stream().filter(ProtocolsTest::hasStarted).toList()) {
      assertEquals(Status.NORMAL, run.status(), () -> table(run));
      if (isClaim) {
        assertTrue(run.grading().isPassed, () -> "the claim does not hold\n" + table(run));
        assertFalse(
            run.grading().hasInteresting,
            () -> "an interesting outcome belongs in a @BrokenTwin\n" + table(run));
      }
    }
    if (mustBreak(test)) {
      assertTrue(
          isSeenToBreak(runs),
          () -> "the broken twin was not seen to break\n" + table(runs.getFirst()));
    }
  }

  private static String table(TestResult run) {
    StringWriter text = new StringWriter();
    try (PrintWriter writer = new PrintWriter(text)) {
      ReportUtils.printResult(writer, run, /* inProgress= */ false);
    }
    return text.toString();
  }

  /** jcstress names a nested class with dots alone. */
  private static Class<?> classOf(String test) throws ClassNotFoundException {
    for (String name = test; ; ) {
      try {
        return Class.forName(name);
      } catch (ClassNotFoundException e) {
        int dot = name.lastIndexOf('.');
        if (dot < 0) {
          throw e;
        }
        name = name.substring(0, dot) + '$' + name.substring(dot + 1);
      }
    }
  }

  private static String shortName(String test) {
    return test.substring("org.revenantdb.jcstress.".length());
  }

  private static void deleteFolder() throws IOException {
    if (Files.exists(FOLDER)) {
      try (Stream<Path> files = Files.walk(FOLDER)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
