package org.revenantdb.jmh.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the command {@code revenant} owes to {@code bench}, with a Java and a Maven that only tell
 * how they were called: files are relative to the caller's folder, and standard output holds what
 * the measurement says and nothing of the build.
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

  private static void executable(Path file, String body) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
