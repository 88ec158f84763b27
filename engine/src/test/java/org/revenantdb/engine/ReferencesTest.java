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
 * What documents and comments refer to exists: sections of the protocols (§n), which stand in the
 * {@code README.md} of their packages and in the index of {@code docs/protocols.md}; rules of
 * {@code docs/rules.md} (Rn); sections of {@code docs/format.md}; classes, their members, and
 * tests.
 */
class ReferencesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final String INDEX = "docs/protocols.md";

  /** A section that is one of the protocols': another document's has its name before it. */
  private static final Pattern SECTION = Pattern.compile("§(\\d+)");

  private static final Pattern SECTION_OF_THE_FORMAT =
      Pattern.compile("format\\.md(?:\\]\\([^)]*\\))?`? §(\\d+(?:\\.\\d+)*)");

  private static final Pattern HEADING = Pattern.compile("^#+ §(\\d+) (.*?) *$", Pattern.MULTILINE);

  /** A row of the index: § number, title, link to the file. */
  private static final Pattern ROW =
      Pattern.compile(
          "^\\| §(\\d+) \\| (.*?) \\| \\[[^\\]]*\\]\\(([^)#]+)#[^)]*\\) \\|$", Pattern.MULTILINE);

  private static final Pattern RULE = Pattern.compile("\\(R(\\d+)\\)|\\brule R(\\d+)|\\bR(\\d+):");
  private static final Pattern TYPE =
      Pattern.compile("\\b(?:class|interface|enum|record)\\s+([A-Z]\\w+)");
  private static final Pattern NAMED =
      Pattern.compile("`([A-Z][a-z]\\w*)(?:[.#](\\w+))?(?:\\([^`]*\\))?`");
  private static final Pattern CODE_OF_JAVADOC =
      Pattern.compile("\\{@code\\s+(?:\\*\\s+)?([A-Z][a-z]\\w*)(?:[.#](\\w+))?(?:\\([^}]*\\))?\\}");

  /** Tests and constants: a word of the code with an underscore. */
  private static final Pattern UNDERSCORED = Pattern.compile("`(\\w+_\\w+)`");

  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);

  private static final List<String> PACKAGES_OF_THE_JDK =
      List.of(
          "java.lang",
          "java.lang.foreign",
          "java.lang.invoke",
          "java.math",
          "java.time",
          "java.io",
          "java.nio",
          "java.nio.channels",
          "java.nio.file",
          "java.util",
          "java.util.concurrent",
          "java.util.concurrent.atomic",
          "java.util.concurrent.locks",
          "com.sun.nio.file");

  /** Names of other people's classes and functions, which the documents compare with. */
  private static final Set<String> FOREIGN =
      Set.of(
          "CachedStateStore",
          "ChangelogRecordDeserializationHelper",
          "ConfigException",
          "Dbi",
          "DefaultKafkaClientSupplier",
          "DefaultStateUpdater",
          "EmitStrategy",
          "Int2IntHashMap",
          "IntArrayList",
          "IntHashSet",
          "InternalProcessorContext",
          "InvalidStateStoreException",
          "KafkaClientSupplier",
          "KafkaStreams",
          "KeyQuery",
          "Long2LongHashMap",
          "Long2ObjectHashMap",
          "LongHashSet",
          "MappedBytes",
          "Materialized",
          "MpmcVarHandleArrayQueue",
          "MpscUnboundedVarHandleArrayQueue",
          "PENDING_COUNT",
          "PositionSerde",
          "ProcessorStateException",
          "ProducerFencedException",
          "RecordBatchingStateRestoreCallback",
          "RocksDBConfigSetter",
          "SharedSecrets",
          "StateStore",
          "StoreQueryUtils",
          "Stores",
          "StreamTask",
          "StreamsMetricsImpl",
          "TaskCorruptedException",
          "TaskMigratedException",
          "TerminateProcess",
          "TopologyTestDriver",
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

  /** Number, title and file of each section, of all documents. */
  private static List<String> sections() {
    List<String> sections = new ArrayList<>();
    DOCUMENTS.forEach((file, text) -> {
      for (MatchResult heading : HEADING.matcher(text).results().toList()) {
        sections.add("§" + heading.group(1) + " " + heading.group(2) + ", " + file);
      }
    });
    return sections.stream().sorted().toList();
  }

  private static List<String> numbers() {
    return sections().stream()
        .map(section -> section.substring(1, section.indexOf(' ')))
        .sorted()
        .toList();
  }

  @Test
  void each_section_of_the_protocols_that_is_referred_to_exists() {
    Set<String> sections = new HashSet<>(numbers());
    assertTrue(sections.size() > 40, sections::toString);
    assertEquals(List.of(), missing(SECTION, sections));
  }

  @Test
  void each_section_of_the_protocols_stands_in_one_document() {
    List<String> numbers = numbers();
    assertEquals(numbers.stream().distinct().toList(), numbers);
  }

  @Test
  void the_index_names_each_section_of_the_protocols_with_its_title_and_file() {
    List<String> rows =
        ROW.matcher(DOCUMENTS.get(INDEX))
            .results()
            .map(row -> {
              Path file = ROOT.resolve(INDEX).resolveSibling(row.group(3)).normalize();
              return "§" + row.group(1) + " " + row.group(2) + ", " + ROOT.relativize(file);
            })
            .sorted()
            .toList();
    assertEquals(sections(), rows);
  }

  @Test
  void each_section_of_the_format_that_is_referred_to_exists() {
    Set<String> sections = headings("docs/format.md", "^#+ (\\d+(?:\\.\\d+)*)\\.? ");
    assertTrue(sections.size() > 10, sections::toString);
    assertEquals(List.of(), missing(SECTION_OF_THE_FORMAT, sections));
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
    DOCUMENTS.forEach((file, text) -> missing.addAll(missingTypes(file, text, 0, text, NAMED)));
    assertEquals(List.of(), missing.stream().sorted().toList());
  }

  @Test
  void each_class_and_member_that_a_comment_names_exists() {
    List<String> missing = new ArrayList<>();
    SOURCES.forEach((file, text) ->
        COMMENT
            .matcher(text)
            .results()
            .forEach(comment ->
                missing.addAll(
                    missingTypes(file, text, comment.start(), comment.group(), CODE_OF_JAVADOC))));
    assertEquals(List.of(), missing.stream().sorted().toList());
  }

  private static List<String> missingTypes(
      String file, String text, int from, String part, Pattern named) {
    List<String> missing = new ArrayList<>();
    for (MatchResult found : named.matcher(part).results().toList()) {
      if (!exists(found.group(1), found.group(2))) {
        missing.add(place(file, text, from + found.start()) + " " + found.group());
      }
    }
    return missing;
  }

  /** Documents beside the code: names with an underscore are tests, scripts and constants. */
  @Test
  void each_test_that_a_document_beside_the_code_names_exists() {
    Set<String> words = new HashSet<>(FOREIGN);
    Pattern word = Pattern.compile("\\w+_\\w+");
    SOURCES
        .values()
        .forEach(text -> word.matcher(text).results().forEach(w -> words.add(w.group())));
    List<String> missing = new ArrayList<>();
    DOCUMENTS.forEach((file, text) -> {
      if (file.contains("/src/")) {
        missing.addAll(missing(file, text, 0, text, UNDERSCORED, words));
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
    // A class of ours may have the name of one of the JDK's, whose members are not looked up.
    return declaring.stream().anyMatch(text -> name.matcher(text).find()) || isOfTheJdk(type);
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
