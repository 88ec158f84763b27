package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each relative link in a Markdown file of the project leads to a file, and to a heading in it. */
class LinksTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("^#+ +(.*?) *$", Pattern.MULTILINE);
  private static final Pattern CODE =
      Pattern.compile("^```.*?^```", Pattern.MULTILINE | Pattern.DOTALL);

  @Test
  void each_relative_link_of_the_project_leads_somewhere() throws IOException {
    List<Path> documents = documents(ROOT);
    assertTrue(documents.size() > 20, () -> "the project is not at " + ROOT);
    assertEquals(List.of(), broken(documents));
  }

  @Test
  void a_link_without_a_file_or_heading_is_reported_with_its_line(@TempDir Path folder)
      throws IOException {
    Files.writeString(folder.resolve("a.md"), "# A\n\n[b](b.md) [c](c.md)\n[d](b.md#d-e)\n");
    Files.writeString(folder.resolve("b.md"), "# B\n## `D`, e\n[a](#a) [b](#b) [x](https://x)\n");
    List<String> broken =
        broken(documents(folder)).stream()
            .map(text -> text.replace(folder + "/", ""))
            .sorted()
            .toList();
    assertEquals(List.of("a.md:3 c.md", "b.md:3 #a"), broken);
  }

  /** Those at the root, in the folder of documents, and in modules; no build output. */
  private static List<Path> documents(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.toString().endsWith(".md") && Files.isRegularFile(file))
          .filter(file -> {
            String name = root.relativize(file).toString();
            return !name.startsWith(".") && !name.contains("target/");
          })
          .sorted()
          .toList();
    }
  }

  private static List<String> broken(List<Path> documents) throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path document : documents) {
      String text = withoutCode(Files.readString(document));
      for (MatchResult link : LINK.matcher(text).results().toList()) {
        if (!leadsSomewhere(document, link.group(1))) {
          long line = text.substring(0, link.start()).lines().count();
          broken.add(document + ":" + line + " " + link.group(1));
        }
      }
    }
    return broken;
  }

  private static boolean leadsSomewhere(Path document, String link) throws IOException {
    if (link.contains("://") || link.startsWith("mailto:")) {
      return true;
    }
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
    if (!Files.exists(target)) {
      return false;
    }
    return parts.length == 1 || !target.toString().endsWith(".md") || hasHeading(target, parts[1]);
  }

  private static boolean hasHeading(Path document, String anchor) throws IOException {
    Set<String> anchors = new HashSet<>();
    Matcher heading = HEADING.matcher(withoutCode(Files.readString(document)));
    while (heading.find()) {
      anchors.add(
          heading
              .group(1)
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^\\p{L}\\p{N}_ -]", "")
              .replace(' ', '-'));
    }
    return anchors.contains(anchor);
  }

  /** The same lines, without what is between fences. */
  private static String withoutCode(String text) {
    return CODE.matcher(text)
        .replaceAll(block -> "\n".repeat((int) block.group().lines().count() - 1));
  }
}
