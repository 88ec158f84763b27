package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What documents and comments refer to exists: sections of {@code docs/protocols.md} (§n), rules of
 * {@code docs/rules.md} (Rn), classes and their members.
 */
class ReferencesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final Pattern SECTION = Pattern.compile("§(\\d+)");
  private static final Pattern RULE = Pattern.compile("\\(R(\\d+)\\)|\\brule R(\\d+)|\\bR(\\d+):");
  private static final Pattern TYPE =
      Pattern.compile("\\b(?:class|interface|enum|record)\\s+([A-Z]\\w+)");
  private static final Pattern NAMED =
      Pattern.compile("`([A-Z][a-z]\\w*)(?:[.#](\\w+))?(?:\\([^`]*\\))?`");
  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);

  private static final List<String> PACKAGES_OF_THE_JDK =
      List.of(
          "java.lang",
          "java.lang.foreign",
          "java.lang.invoke",
          "java.io",
          "java.nio",
          "java.nio.channels",
          "java.nio.file",
          "java.util",
          "java.util.concurrent",
          "java.util.concurrent.locks",
          "com.sun.nio.file");

  /** Names of other people's classes and functions, which the documents compare with. */
  private static final Set<String> FOREIGN =
      Set.of(
          "Dbi",
          "Int2IntHashMap",
          "IntArrayList",
          "IntHashSet",
          "Long2LongHashMap",
          "Long2ObjectHashMap",
          "LongHashSet",
          "MappedBytes",
          "MpmcVarHandleArrayQueue",
          "MpscUnboundedVarHandleArrayQueue",
          "OpenAllocator",
          "SharedSecrets",
          "TerminateProcess",
          "TransactionDB",
          "TransactionStore",
          "Unsafe");

  /** Text of a file by its path from the root. */
  private static final Map<String, String> DOCUMENTS = new HashMap<>();

  private static final Map<String, String> SOURCES = new HashMap<>();

  /** Texts of the files that declare a type of this name. */
  private static final Map<String, List<String>> TYPES = new HashMap<>();

  @BeforeAll
  static void read() throws IOException {
    for (Path top : tops()) {
      try (Stream<Path> files = Files.walk(top)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          String name = ROOT.relativize(file).toString();
          if (name.contains("target/")) {
            continue;
          }
          if (name.endsWith(".md")) {
            DOCUMENTS.put(name, Files.readString(file));
          } else if (name.endsWith(".java")) {
            SOURCES.put(name, Files.readString(file));
          }
        }
      }
    }
    SOURCES
        .values()
        .forEach(text ->
            TYPE.matcher(text)
                .results()
                .forEach(type ->
                    TYPES.computeIfAbsent(type.group(1), any -> new ArrayList<>()).add(text)));
    assertTrue(DOCUMENTS.size() > 20 && SOURCES.size() > 500, "the project is not at " + ROOT);
  }

  /** The documents at the root, the folder of documents, and each module. */
  private static List<Path> tops() throws IOException {
    try (Stream<Path> files = Files.list(ROOT)) {
      return files
          .filter(top ->
              top.toString().endsWith(".md")
                  || top.endsWith("docs")
                  || Files.isRegularFile(top.resolve("pom.xml")))
          .toList();
    }
  }

  private static Set<String> headings(String document, String pattern) {
    Set<String> numbers = new HashSet<>();
    Matcher heading = Pattern.compile(pattern, Pattern.MULTILINE).matcher(DOCUMENTS.get(document));
    while (heading.find()) {
      numbers.add(heading.group(1));
    }
    return numbers;
  }

  private static String place(String file, String text, int offset) {
    return file + ":" + (text.substring(0, offset).chars().filter(c -> c == '\n').count() + 1);
  }

  /** Documents whole, and the comments of sources. */
  private static List<String> missing(Pattern reference, Set<String> existing) {
    List<String> missing = new ArrayList<>();
    DOCUMENTS.forEach(
        (file, text) -> missing.addAll(missing(file, text, 0, text, reference, existing)));
    SOURCES.forEach((file, text) ->
        COMMENT
            .matcher(text)
            .results()
            .forEach(comment ->
                missing.addAll(
                    missing(file, text, comment.start(), comment.group(), reference, existing))));
    return missing.stream().sorted().toList();
  }

  private static List<String> missing(
      String file, String text, int from, String part, Pattern reference, Set<String> existing) {
    List<String> missing = new ArrayList<>();
    for (MatchResult found : reference.matcher(part).results().toList()) {
      String number = null;
      for (int group = 1; group <= found.groupCount() && number == null; group++) {
        number = found.group(group);
      }
      if (!existing.contains(number)) {
        missing.add(place(file, text, from + found.start()) + " " + found.group());
      }
    }
    return missing;
  }

  @Test
  void each_section_of_the_protocols_that_is_referred_to_exists() {
    Set<String> sections = headings("docs/protocols.md", "^#+ §?(\\d+)[. ]");
    assertTrue(sections.size() > 40, sections::toString);
    assertEquals(List.of(), missing(SECTION, sections));
  }

  @Test
  void each_rule_that_is_referred_to_exists() {
    Set<String> rules = headings("docs/rules.md", "^#+ R(\\d+)");
    assertTrue(rules.size() >= 27, rules::toString);
    assertEquals(List.of(), missing(RULE, rules));
  }

  @Test
  void each_class_and_member_that_a_document_names_exists() {
    List<String> missing = new ArrayList<>();
    DOCUMENTS.forEach((file, text) -> {
      for (MatchResult found : NAMED.matcher(text).results().toList()) {
        if (!exists(found.group(1), found.group(2))) {
          missing.add(place(file, text, found.start()) + " " + found.group());
        }
      }
    });
    assertEquals(List.of(), missing.stream().sorted().toList());
  }

  private static boolean exists(String type, String member) {
    List<String> declaring = TYPES.get(type);
    if (declaring == null) {
      return FOREIGN.contains(type) || isOfTheJdk(type);
    }
    if (member == null) {
      return true;
    }
    Pattern name = Pattern.compile("\\b" + member + "\\b");
    return declaring.stream().anyMatch(text -> name.matcher(text).find());
  }

  private static boolean isOfTheJdk(String type) {
    for (String of : PACKAGES_OF_THE_JDK) {
      try {
        Class.forName(of + "." + type, /* initialize= */ false, null);
        return true;
      } catch (ClassNotFoundException elsewhere) {
        // in the next package perhaps
      }
    }
    return false;
  }
}
