package org.revenantdb.chaos.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.junit.CrashTest;

/** What the page on build servers shows is compiled and run, and names what exists. */
class CiPageTest {

  private static final Path PAGE = Path.of("CI.md");
  private static final Path SOURCE =
      Path.of("src/test/java/org/revenantdb/chaos/readme/SettingsInCiTest.java");
  private static final Path CODE = Path.of("src/main/java/org/revenantdb/chaos");

  /** Where properties for users are read. */
  private static final List<String> SETTINGS =
      List.of("junit/CrashTestSettings.java", "run/ErrorFaults.java", "hooks/Recorders.java");

  private static List<String> found(String text, String pattern) {
    return Pattern.compile(pattern, Pattern.MULTILINE | Pattern.DOTALL)
        .matcher(text)
        .results()
        .map((MatchResult match) -> match.group(1))
        .toList();
  }

  private static List<String> words(String text) {
    return List.of(text.strip().split("\\s+"));
  }

  private static String block(String language) throws IOException {
    return found(Files.readString(PAGE), "^```" + language + "\\n(.*?)^```").getFirst();
  }

  @Test
  void the_class_is_the_tested_source() throws IOException {
    String source = Files.readString(SOURCE);
    assertEquals(source.substring(source.indexOf("import ")), block("java"));
  }

  /** Each property that the page sets is read by the settings, and the page has all of them. */
  @Test
  void the_properties_are_those_of_the_settings() throws IOException {
    String property = "revenant\\.chaos\\.([a-z]+(?:\\.[a-z]+)?)";
    Set<String> real = new TreeSet<>();
    for (String source : SETTINGS) {
      real.addAll(found(Files.readString(CODE.resolve(source)), "\"" + property + "\""));
    }
    String page = Files.readString(PAGE);
    assertEquals(real, new TreeSet<>(found(page, "\\| `" + property + "` \\|")));
    Set<String> used = new TreeSet<>(found(page, property));
    assertTrue(real.containsAll(used), used + " of " + real);
    // The directory has a value of its own in the build for Gradle.
    Set<String> passedOn =
        Stream.of(found(block("kotlin"), "listOf\\((.*?)\\)\\.forEach").getFirst().split(", "))
            .map(name -> name.replace("\"", ""))
            .collect(Collectors.toCollection(TreeSet::new));
    passedOn.add("dir");
    assertEquals(real, passedOn);
  }

  @Test
  void the_attributes_in_the_text_exist() throws IOException {
    Set<String> attributes =
        Stream.of(CrashTest.class.getDeclaredMethods())
            .map(Method::getName)
            .collect(Collectors.toSet());
    for (String name : List.of("seed", "states", "kills", "lives", "workers", "baseline")) {
      assertTrue(attributes.contains(name), name);
      assertTrue(Files.readString(PAGE).contains("`" + name), name);
    }
  }

  @Test
  void the_builds_have_the_versions_of_this_one() throws IOException {
    String pom = Files.readString(Path.of("..", "pom.xml"));
    String kotlin = block("kotlin");
    String version = found(pom, "<version>(.*?)</version>").getFirst();
    assertTrue(kotlin.contains("org.revenantdb:revenant-chaos:" + version + "\""), kotlin);
    String junit = found(pom, "<junit.version>(.*?)</junit.version>").getFirst();
    assertTrue(kotlin.contains("junit-bom:" + junit + "\""), kotlin);
    assertTrue(kotlin.contains("JavaLanguageVersion.of(25)"), kotlin);
    String maven = block("xml");
    for (String artifact :
        List.of(
            "<artifactId>revenant-chaos</artifactId>\n      <version>" + version,
            "<artifactId>junit-jupiter</artifactId>\n      <version>" + junit,
            "<artifactId>maven-surefire-plugin</artifactId>\n        <version>"
                + found(
                        pom,
                        "<artifactId>maven-surefire-plugin</artifactId>\\s+<version>(.*?)</version>")
                    .getFirst())) {
      assertTrue(maven.contains(artifact + "</version>"), artifact);
    }
    // Without it a report has [1], [2] instead of what was tried.
    String reporter =
        found(pom, "(<statelessTestsetReporter .*?</statelessTestsetReporter>)").getFirst();
    assertEquals(words(reporter), words(found(maven, "(<statelessTest.*Reporter>)").getFirst()));
    assertEquals(List.of("25", "25"), found(block("yaml"), "java-version: \"(\\d+)\""));
  }

  /** Spaces alone, two a level, as YAML needs them; each job has its own steps. */
  @Test
  void the_workflow_has_the_form_of_one() throws IOException {
    String workflow = block("yaml");
    for (String line : workflow.lines().toList()) {
      int indent = line.length() - line.stripLeading().length();
      assertEquals(0, indent % 2, line);
      assertTrue(line.strip().matches("(- )?([\\w-]+: ?.*)|- uses: .*|pull_request:"), line);
    }
    assertEquals(List.of("pull-request", "nightly"), found(workflow, "^  ([\\w-]+):\\n    if:"));
    assertEquals(2, found(workflow, "(run: mvn -B test -Dtest='\\*CrashTest' -Drev)").size());
  }
}
