package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The README has the promise of each store and each finding, as the code has them. */
class PromisesTest {
  private static final Pattern MOVES =
      Pattern.compile("/(blob|tree)/(main|master|ea|develop|trunk|HEAD)/|/wiki/|/latest/");

  private static String text(Path file) throws IOException {
    return Files.readString(file);
  }

  @Test
  void the_readme_has_promise_and_release_of_each_store() throws IOException {
    String readme = text(Path.of("README.md"));
    for (Example store : Example.values()) {
      String row =
          readme
              .lines()
              .filter(line -> line.startsWith("| [" + store.title() + "]"))
              .findFirst()
              .orElse("");
      assertTrue(row.contains(store.promise() + ")"), store + ": " + row);
      assertTrue(row.contains(store.version()), store + ": " + row);
      assertTrue(row.contains("(" + store.release() + ")") || store.release().isEmpty(), row);
      assertTrue(row.contains(store.subject().getSimpleName() + ".java"), row);
    }
  }

  @Test
  void no_link_leads_to_a_branch_or_to_a_page_that_changes() {
    List<String> moving =
        Stream.of(Example.values())
            .map(Example::promise)
            .filter(link -> MOVES.matcher(link).find())
            .toList();
    assertEquals(List.of(), moving);
  }

  @Test
  void the_versions_are_those_that_are_built() throws IOException {
    String pom = text(Path.of("..", "pom.xml"));
    for (Example store : Example.values()) {
      String version = store.version().split(" ", 2)[0];
      assertTrue(
          store == Example.REVENANT || pom.contains(">" + version + "<"), store + " " + version);
    }
  }

  @Test
  void the_readme_has_each_finding_with_its_judgement_and_how_to_see_it_again() throws IOException {
    String readme = text(Path.of("README.md"));
    for (Finding finding : Finding.KNOWN) {
      String what = finding.what() + (finding.isRequired() ? " \\*" : "");
      assertTrue(
          readme
              .lines()
              .anyMatch(line ->
                  line.contains(
                      "| "
                          + what
                          + " | "
                          + word(finding.judgement())
                          + " | `--store "
                          + finding.store())),
          what);
    }
  }

  private static String word(Finding.Judgement judgement) {
    return switch (judgement) {
      case BUG -> "bug";
      case OUTSIDE -> "outside";
      case UNUSUAL -> "unusual";
    };
  }
}
