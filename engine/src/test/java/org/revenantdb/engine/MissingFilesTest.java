package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Whether a file is there is asked of {@code Directories.exists}. {@link Files#exists} and {@link
 * Files#notExists} have no answer of their own for a file that this user may not look at: a missing
 * right would be taken for a missing file.
 */
class MissingFilesTest {

  private static final Pattern QUESTION = Pattern.compile("Files(\\.|::)(exists|notExists)\\b");

  /**
   * Places where it does not matter: in the first an answer chooses between two paths of one file
   * system, in the second a file was just created in the same directory.
   */
  private static final List<String> HARMLESS = List.of("IoFailures.java", "JsonFile.java");

  @Test
  void the_engine_does_not_take_a_missing_right_for_a_missing_file() throws IOException {
    List<String> found = new ArrayList<>();
    for (String module : List.of("engine", "recovery")) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
        files.filter(MissingFilesTest::asks).forEach(file -> found.add(file.toString()));
      }
    }
    assertEquals(List.of(), found);
  }

  private static boolean asks(Path file) {
    String name = file.getFileName().toString();
    if (!name.endsWith(".java") || HARMLESS.contains(name)) {
      return false;
    }
    try {
      return Files.readString(file)
          .lines()
          .filter(line -> !line.strip().startsWith("*"))
          .anyMatch(line -> QUESTION.matcher(line).find());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
