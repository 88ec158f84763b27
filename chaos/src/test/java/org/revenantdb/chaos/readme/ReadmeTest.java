package org.revenantdb.chaos.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The README's first Java block is equal to {@link SettingsTest} without its package, and that for
 * real files to {@link LogStoreTest} without its head, so the examples are compiled and run here.
 */
class ReadmeTest {

  private static final Path README = Path.of("README.md");
  private static final Path SOURCE =
      Path.of("src", "test", "java", "org", "revenantdb", "chaos", "readme", "SettingsTest.java");
  private static final Pattern FIRST_JAVA_BLOCK =
      Pattern.compile("^```java\\s*\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

  @Test
  void example_isTheTestedSource() throws IOException {
    Matcher block = FIRST_JAVA_BLOCK.matcher(Files.readString(README));
    assertTrue(block.find(), "the README shows no java block");
    String source = Files.readString(SOURCE);
    assertEquals(source.substring(source.indexOf("import ")), block.group(1));
  }

  /** The test of a stranger whose store uses {@code RandomAccessFile}. */
  @Test
  void example_for_real_files_is_the_tested_source_and_short() throws IOException {
    String source = Files.readString(SOURCE.resolveSibling("LogStoreTest.java"));
    String shown = source.substring(source.indexOf("@CrashTest("));
    assertTrue(Files.readString(README).contains("```java\n" + shown + "```"), shown);
    long lines =
        source.lines().filter(line -> !line.isBlank() && !line.startsWith("package ")).count();
    assertTrue(lines <= 30, lines + " lines, with its imports");
  }
}
