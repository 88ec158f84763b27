package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * The length of the test that somebody writes for a store which uses a {@code RandomAccessFile}.
 * The README of {@code chaos} shows it.
 */
final class StrangersTest {
  private static final Path SOURCE =
      Path.of("chaos", "src", "test", "java", "org", "revenantdb", "chaos", "readme")
          .resolve("LogStoreTest.java");

  private StrangersTest() {}

  /**
   * Counts its lines, with package and imports and without blank lines.
   *
   * @param root of the sources
   * @return empty if they are not there
   */
  static OptionalLong count(Path root) throws IOException {
    Path file = root.resolve(SOURCE);
    return Files.exists(file)
        ? OptionalLong.of(Files.readString(file).lines().filter(line -> !line.isBlank()).count())
        : OptionalLong.empty();
  }
}
