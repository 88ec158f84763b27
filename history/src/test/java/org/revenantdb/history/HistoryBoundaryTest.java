package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Exports;
import java.lang.module.ModuleDescriptor.Requires;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The checker is usable by itself: no other module, no library. */
class HistoryBoundaryTest {

  private static final Path CLASSES = Path.of("target", "classes");

  @Test
  void the_module_requires_java_base_alone_and_exports_one_package() throws IOException {
    try (InputStream in = Files.newInputStream(CLASSES.resolve("module-info.class"))) {
      ModuleDescriptor module = ModuleDescriptor.read(in);
      assertEquals(
          Set.of("java.base"),
          module.requires().stream()
              .filter(required -> !required.modifiers().contains(Requires.Modifier.STATIC))
              .map(Requires::name)
              .collect(Collectors.toSet()));
      assertEquals(
          Set.of("org.revenantdb.history"),
          module.exports().stream().map(Exports::source).collect(Collectors.toSet()));
    }
  }

  /** A user's build gets what is neither provided nor of a test. */
  @Test
  void its_artifact_brings_no_other() throws IOException {
    String pom = Files.readString(Path.of("pom.xml"));
    List<String> brought =
        Pattern.compile("(?s)<dependency>(.*?)</dependency>")
            .matcher(pom)
            .results()
            .map((MatchResult match) -> match.group(1))
            .filter(one -> !one.matches("(?s).*<scope>(provided|test)</scope>.*"))
            .toList();
    assertEquals(List.of(), brought);
  }

  @Test
  void the_command_runs_with_nothing_else_on_the_path(@TempDir Path folder)
      throws IOException, InterruptedException {
    Path file =
        Files.writeString(
            folder.resolve("skew.edn"),
            """
            {:type :ok, :process 0, :value [[:r :x nil] [:w :y 1]]}
            {:type :ok, :process 1, :value [[:r :y nil] [:w :x 1]]}
            """);
    for (List<String> path :
        List.of(
            List.of("-cp", CLASSES.toString(), "org.revenantdb.history.HistoryCommand"),
            List.of(
                "-p",
                CLASSES.toString(),
                "-m",
                "org.revenantdb.history/org.revenantdb.history.HistoryCommand"))) {
      List<String> command = new java.util.ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(path);
      command.add(file.toString());
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(HistoryCommand.FORBIDDEN, process.waitFor(), said);
      assertTrue(said.contains("WRITE_SKEW (G2-item): a cycle of 2"), said);
      assertTrue(said.contains("The strongest level that allows it: SNAPSHOT"), said);
    }
  }
}
