package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The arrows between the packages of this module: none runs back up.
 *
 * <p>The exported package is the lowest and the highest at once. Its records, enums and exceptions
 * are words that the upper half of the engine uses; its classes with behaviour call that half, and
 * are reached from there by {@code access} alone. The lower half knows nothing of it.
 */
class PackagesTest {
  private static final Pattern NAME =
      Pattern.compile("org/revenantdb/engine/(?:([a-z]+)/)?[A-Z]\\w*");

  private static final String API = "";

  /** They do not know the API. */
  private static final List<String> LOWER =
      List.of(
          "flight",
          "sort",
          "page",
          "txn",
          "buffer",
          "change",
          "space",
          "btree",
          "serial",
          "overflow",
          "version");

  private static final List<String> UPPER =
      List.of("counters", "catalog", "session", "check", "backup", "archive", "lifecycle", "admin");

  /** Nothing uses them. */
  private static final Set<String> COMMANDS = Set.of("cli", "measure");

  private static final String ACCESS = "access";

  private record Arrow(String from, String to) {}

  @Test
  void no_arrow_runs_back_up() throws Exception {
    assertEquals(Set.of(), back(LOWER, UPPER));
  }

  @Test
  void an_arrow_that_runs_back_up_is_found() throws Exception {
    List<String> wrong = List.of("btree", "page");
    assertTrue(back(wrong, UPPER).contains("btree -> page"));
  }

  @Test
  void every_package_has_its_place() throws Exception {
    Set<String> unknown = new TreeSet<>();
    for (Arrow arrow : arrows()) {
      unknown.add(arrow.from);
    }
    assertFalse(unknown.isEmpty());
    unknown.removeAll(LOWER);
    unknown.removeAll(UPPER);
    unknown.removeAll(COMMANDS);
    unknown.removeAll(Set.of(API, ACCESS));
    assertEquals(Set.of(), unknown);
  }

  private static Set<String> back(List<String> lower, List<String> upper) throws Exception {
    Set<String> back = new TreeSet<>();
    for (Arrow arrow : arrows()) {
      if (!isAllowed(arrow, lower, upper)) {
        back.add(arrow.from + " -> " + (arrow.to.equals(API) ? "the API" : arrow.to));
      }
    }
    return back;
  }

  private static boolean isAllowed(Arrow arrow, List<String> lower, List<String> upper) {
    if (COMMANDS.contains(arrow.to)) {
      return false;
    }
    if (COMMANDS.contains(arrow.from) || arrow.from.equals(API) || arrow.from.equals(ACCESS)) {
      return true;
    }
    if (arrow.to.equals(API) || arrow.to.equals(ACCESS)) {
      return upper.contains(arrow.from);
    }
    return height(arrow.to, lower, upper) < height(arrow.from, lower, upper);
  }

  private static int height(String name, List<String> lower, List<String> upper) {
    int index = lower.indexOf(name);
    return index >= 0 ? index : lower.size() + upper.indexOf(name);
  }

  private static Set<Arrow> arrows() throws IOException, URISyntaxException {
    Path classes =
        Path.of(Database.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Set<Arrow> arrows = new java.util.HashSet<>();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
        String name = classes.relativize(file).toString().replace('\\', '/');
        Matcher own = NAME.matcher(name);
        if (own.find()) {
          String from = own.group(1) == null ? API : own.group(1);
          for (PoolEntry entry : ClassFile.of().parse(file).constantPool()) {
            if (entry instanceof Utf8Entry text) {
              add(arrows, from, text.stringValue());
            }
          }
        }
      }
    }
    return arrows;
  }

  private static void add(Set<Arrow> arrows, String from, String text) {
    Matcher matcher = NAME.matcher(text);
    while (matcher.find()) {
      String to = matcher.group(1) == null ? API : matcher.group(1);
      if (!to.equals(from)) {
        arrows.add(new Arrow(from, to));
      }
    }
  }
}
