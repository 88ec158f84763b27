package org.revenantdb.jmh.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.testing.Drawn;

/**
 * The behaviour of the command {@code revenant} for {@code bench}, with a Java and a Maven that
 * only print their arguments: files are relative to the caller's folder, and standard output
 * contains the output of the measurement and nothing of the build. The verbs that need a Kafka
 * broker are run as they are, without Maven.
 */
class RevenantScriptTest {
  @TempDir private Path folder;

  @Test
  void bench_runsInTheFolderOfTheCaller_andKeepsTheBuildOffStandardOutput()
      throws IOException, InterruptedException {
    Path root = Files.createDirectories(folder.resolve("checkout"));
    Path script = Files.copy(Path.of("..", "revenant"), root.resolve("revenant"));
    Files.writeString(root.resolve("pom.xml"), "");
    Path state = root.resolve("jmh/target/revenant");
    Path jdk = Files.createDirectories(folder.resolve("jdk"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.3\"\n");
    executable(jdk.resolve("bin/java"), "pwd; echo \"$@\"; exit 3");
    executable(jdk.resolve("bin/javac"), "exit 1");
    executable(
        folder.resolve("bin/mvn"),
        "echo noise; cd / || exit 1; mkdir -p '" + state + "'; : > '" + state + "/libraries'");
    Path elsewhere = Files.createDirectories(folder.resolve("else where"));
    ProcessBuilder builder =
        new ProcessBuilder("bash", "" + script, "bench", "latch", "--json", "figures.json")
            .directory(elsewhere.toFile())
            .redirectError(folder.resolve("stderr").toFile());
    builder.environment().put("JAVA_HOME", "" + jdk);
    builder.environment().merge("PATH", "", (path, _) -> folder.resolve("bin") + ":" + path);
    Process process = builder.start();
    List<String> lines =
        new String(process.getInputStream().readAllBytes(), UTF_8).lines().toList();
    String told = lines + Files.readString(folder.resolve("stderr"));
    assertEquals(3, process.waitFor(), told);
    assertEquals(2, lines.size(), told);
    assertEquals("" + elsewhere.toRealPath(), "" + Path.of(lines.getFirst()).toRealPath(), told);
    assertTrue(lines.getLast().endsWith("Main bench latch --json figures.json"), told);
  }

  /** Each verb that the page of help lists, run by its own main class. */
  @Test
  @Tag("slow")
  void every_verb_prints_its_version() throws IOException, InterruptedException {
    Path root = Files.createDirectories(folder.resolve("checkout"));
    Path script = Files.copy(Path.of("..", "revenant"), root.resolve("revenant"));
    Files.copy(Path.of("..", "pom.xml"), root.resolve("pom.xml"));
    Path jdk = Files.createDirectories(folder.resolve("jdk"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.3\"\n");
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    executable(
        jdk.resolve("bin/java"),
        "while [ \"$1\" != -cp ]; do shift; done; shift 2; exec '"
            + java
            + "' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp \"$CP\" \"$@\"");
    executable(jdk.resolve("bin/javac"), "exit 1");
    executable(
        folder.resolve("bin/mvn"),
        "case \"$*\" in *verify*) echo 'this is no build'; exit 1;; esac;"
            + " for m in cli suite jmh; do mkdir -p '"
            + root
            + "'/$m/target/revenant; : > '"
            + root
            + "'/$m/target/revenant/libraries; done");
    List<String> verbs =
        said(jdk, script, "help")
            .lines()
            .filter(line -> line.matches("  [a-z]+ {2,}\\S.*"))
            .map(line -> line.strip().split(" ")[0])
            .toList();
    assertTrue(verbs.containsAll(List.of("demo", "check", "bench", "test", "help")), "" + verbs);
    int step = Boolean.getBoolean("revenant.long") ? 1 : 3; // each verb is a JVM
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("RevenantScriptTest, every " + step + ". verb, seed " + seed);
    for (int i = (int) Math.floorMod(seed, step); i < verbs.size(); i += step) {
      String verb = verbs.get(i);
      assertEquals("RevenantDB " + Database.VERSION, said(jdk, script, verb, "-V").strip(), verb);
    }
    assertEquals("RevenantDB " + Database.VERSION, said(jdk, script, "check", "--version").strip());
    assertEquals("RevenantDB " + Database.VERSION, said(jdk, script, "-V").strip());
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 4)
  void demo_kafka_shows_that_the_counts_are_right_after_a_kill()
      throws IOException, InterruptedException {
    String printed = besideABroker("demo", "kafka", "--keys", "300", "--kills", "1");
    assertTrue(
        printed.matches("(?s).*\\R *with wrong counts after it +0 +0 *\\R.*"), () -> printed);
    assertEquals(2, printed.split("counts right", -1).length - 1, () -> printed);
  }

  /** All figures under {@code -Plong}; else those of the kills, or one of the others. */
  @Test
  @Tag("slow")
  @Drawn(oneIn = 8)
  void bench_kafka_streams_measures_its_figures() throws IOException, InterruptedException {
    List<String> all = new KafkaBench().promises();
    List<String> others =
        all.stream().filter(name -> name.matches(".*throughput.*|.*memory.*")).toList();
    List<String> kills = all.stream().filter(name -> !others.contains(name)).toList();
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    int drawn = (int) Math.floorMod(seed, others.size() + 1L);
    List<String> some = drawn == others.size() ? kills : List.of(others.get(drawn));
    List<String> wanted = Boolean.getBoolean("revenant.long") ? all : some;
    System.out.println("RevenantScriptTest, " + wanted + ", seed " + seed);
    String printed =
        besideABroker(
            "bench",
            "kafka-streams",
            "--quick",
            "--only",
            String.join(",", wanted),
            "--json",
            "figures.json");
    String json = Files.readString(folder.resolve("figures.json"));
    for (String figure : wanted) {
      assertTrue(json.matches("(?s).*\"" + figure + "\": [0-9].*"), () -> figure + printed + json);
    }
    if (wanted.contains("kills_wrong")) {
      assertTrue(json.matches("(?s).*\"kills_wrong\": 0(\\.0)?\\b.*"), () -> printed + json);
    }
  }

  /**
   * Runs a command with the JDK of this test, and with the class paths of this build instead of a
   * build by Maven. Where that is not possible, the test is skipped.
   *
   * @return what was printed
   */
  private String besideABroker(String... arguments) throws IOException, InterruptedException {
    Path trials = Path.of("..", "kafka-trials", "target", "libraries");
    Assumptions.assumeTrue(
        Files.exists(trials),
        "NO TRIALS: the module kafka-trials is not built; begin with mvn -DskipTests test-compile");
    StringBuilder classPath = new StringBuilder();
    for (String module :
        List.of(
            "kafka-trials",
            "latch",
            "gc",
            "recovery",
            "engine",
            "history",
            "chaos",
            "kafka-streams")) {
      Path classes = Path.of("..", module, "target", "classes").toRealPath();
      classPath.append(classes).append(File.pathSeparator);
    }
    Path ofTrials =
        Files.writeString(folder.resolve("trials"), classPath + Files.readString(trials));
    Path ofBench =
        Files.writeString(folder.resolve("bench"), System.getProperty("java.class.path"));
    Path root = Files.createDirectories(folder.resolve("checkout"));
    Path script = Files.copy(Path.of("..", "revenant"), root.resolve("revenant"));
    Files.copy(Path.of("..", "pom.xml"), root.resolve("pom.xml"));
    executable(
        folder.resolve("bin/mvn"),
        "case \"$*\" in *'-pl kafka-trials '*) m=kafka-trials; from='"
            + ofTrials
            + "';; *) m=jmh; from='"
            + ofBench
            + "';; esac; cp \"$from\" '"
            + root
            + "'/$m/target/revenant/libraries");
    List<String> command = new ArrayList<>(List.of("bash", script.toString()));
    command.addAll(List.of(arguments));
    Path printed = folder.resolve("printed");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().merge("PATH", "", (path, _) -> folder.resolve("bin") + ":" + path);
    int code = builder.start().waitFor();
    String text = Files.readString(printed);
    Assumptions.assumeFalse(text.contains("NO BROKER"), text);
    assertEquals(0, code, () -> command + "\n" + text);
    return text;
  }

  private String said(Path jdk, Path script, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("bash", script.toString()));
    command.addAll(List.of(arguments));
    Path errors = folder.resolve("stderr");
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
    builder.environment().put("JAVA_HOME", "" + jdk);
    builder.environment().put("CP", System.getProperty("java.class.path"));
    builder.environment().merge("PATH", "", (path, _) -> folder.resolve("bin") + ":" + path);
    Process process = builder.start();
    String text = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), command + text + Files.readString(errors));
    return text;
  }

  private static void executable(Path file, String body) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
