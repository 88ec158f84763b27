package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** An application that imports the bill of materials has the version of each artifact. */
class BomTest {
  private static final Path ROOT = Path.of("..");

  private static Set<String> found(String pom, String pattern) {
    return Pattern.compile(pattern)
        .matcher(pom)
        .results()
        .map((MatchResult match) -> match.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String pom(String module) throws IOException {
    return Files.readString(ROOT.resolve(module).resolve("pom.xml"));
  }

  @Test
  void the_bill_of_materials_has_each_published_artifact() throws IOException {
    Set<String> published = new TreeSet<>();
    for (String module : found(pom(""), "<module>(.*)</module>")) {
      boolean isPublished =
          !module.equals("bom")
              && !pom(module).contains("<library.archives.skip>true</library.archives.skip>");
      if (isPublished) {
        published.add("revenant-" + module);
      }
    }
    assertFalse(published.isEmpty());
    published.add("revenant-bom");
    assertEquals(published, found(pom("bom"), "<artifactId>(revenant-.*)</artifactId>"));
  }

  @Test
  void the_bill_of_materials_has_the_version_of_the_library() throws IOException {
    Set<String> versions = found(pom("bom"), "\n  <version>(.*)</version>");
    assertEquals(Set.of(Database.VERSION), versions);
  }
}
