package org.revenantdb.chaos.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReportTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  @Test
  void progress_showsShareRateAndTimeLeft() {
    try (Progress progress = Progress.to(out, false, "import", "files", 1_000)) {
      progress.at(250);
      assertEquals(
          "import                 [######..................]  25 %  250 of 1,000 files, 125/s, 6 s"
              + " left",
          progress.line(2_000_000_000L));
      progress.note("2 kills");
      assertTrue(progress.line(1).endsWith("  2 kills"));
    }
    assertEquals(1, bytes.toString(StandardCharsets.UTF_8).lines().count());
  }

  @Test
  void progress_onATerminal_clearsItsLine() {
    try (Progress progress = Progress.to(out, true, "import", "files", 10)) {
      progress.at(10);
    }
    String text = bytes.toString(StandardCharsets.UTF_8);
    assertTrue(text.startsWith("\rimport"), text);
    assertTrue(text.endsWith("\r"), text);
    assertFalse(text.contains("\n"));
  }

  @Test
  void timedPart_showsHowMuchOfItsTimeHasPassed_withoutARate() {
    try (Progress part = Progress.timed(out, true, "faults", Duration.ofSeconds(20))) {
      assertEquals(
          "faults                 [###.........]  5.0 s of 20 s", part.passed(5_000_000_000L));
      part.note("3 kills");
      assertEquals(
          "faults                 [############]  21 s of 20 s  3 kills",
          part.passed(21_000_000_000L));
      assertEquals("faults                    0.4 s  3 kills", part.took(400_000_000L));
    }
  }

  @Test
  void timedPart_leavesOneLineBehind_onATerminal() {
    try (Progress part = Progress.timed(out, true, "faults", Duration.ofSeconds(20))) {
      part.tick();
      part.note("3 kills");
    }
    String text = bytes.toString(StandardCharsets.UTF_8);
    assertEquals(1, text.chars().filter(c -> c == '\n').count(), text);
    assertTrue(text.substring(text.lastIndexOf('\r')).startsWith("\rfaults"), text);
    assertTrue(text.endsWith("  3 kills" + System.lineSeparator()), text);
  }

  @Test
  void timedPart_leavesOneLineBehind_inALog() {
    try (Progress part = Progress.timed(out, false, "faults", Duration.ZERO)) {
      part.tick();
      part.tick();
    }
    String text = bytes.toString(StandardCharsets.UTF_8);
    assertEquals(1, text.lines().count(), text);
    assertFalse(text.contains("%"), text);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void no_line_of_progress_is_wider_than_the_terminal(boolean terminal) {
    String wide = "a title, unit or note that is far too long for a line of its own ".repeat(3);
    try (Progress counted = Progress.to(out, terminal, wide, wide, Long.MAX_VALUE)) {
      counted.note(wide);
      counted.at(Long.MAX_VALUE / 3);
      counted.show(counted.line(Long.MAX_VALUE));
    }
    try (Progress timed = Progress.timed(out, terminal, wide, Duration.ofDays(10_000))) {
      timed.note(wide);
      timed.tick();
      timed.show(timed.passed(Long.MAX_VALUE));
    }
    out.println(Progress.fitted(wide));
    int width = System.getenv("COLUMNS") == null ? 80 : Progress.fitted(wide).length() + 1;
    List<String> lines = bytes.toString(StandardCharsets.UTF_8).lines().toList();
    assertTrue(lines.size() >= 3, lines.toString());
    for (String line : lines) {
      assertTrue(line.length() < width, line.length() + " columns: " + line);
    }
  }

  @Test
  void line_longerThanATerminal_isCut() {
    assertEquals("abc", Progress.cut("abc", 4));
    assertEquals("ab…", Progress.cut("abcd", 4));
  }

  @Test
  void json_thatCannotReplaceADirectory_leavesNothingBehind(@TempDir Path dir) throws Exception {
    Path inTheWay = Files.createDirectory(dir.resolve("figures.json"));
    Files.writeString(inTheWay.resolve("full"), "x");
    assertThrows(IOException.class, () -> new JsonReport().writeTo(inTheWay));
    try (var files = Files.list(dir)) {
      assertEquals(List.of(inTheWay), files.toList());
    }
  }

  @Test
  void table_alignsTheSecondColumn() {
    String text = new TextTable().row("a", 1).row("long name", "x").toString();
    assertTrue(text.contains("\na          1\n"), text);
    assertTrue(text.contains("\nlong name  x\n"), text);
  }

  @Test
  void json_isWrittenWholeAndReplacesTheFormerFile(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("figures.json");
    Files.writeString(file, "old");
    new JsonReport()
        .number("rows", 3)
        .number("seconds", 1.5)
        .yesNo("passed", true)
        .detail("detail", Map.of("text", "a \"quoted\"\nline\\"))
        .detail("list", List.of(1, "x"))
        .detail("none", Map.of())
        .writeTo(file);
    assertEquals(
        """
        {
          "rows": 3,
          "seconds": 1.5,
          "passed": 1,
          "detail": {
            "text": "a \\"quoted\\"\\nline\\\\"
          },
          "list": [1, "x"],
          "none": {}
        }
        """,
        Files.readString(file));
    try (var files = Files.list(dir)) {
      assertEquals(1, files.count());
    }
  }

  @Test
  void json_refusesValuesThatItCannotContain() {
    assertThrows(IllegalArgumentException.class, () -> new JsonReport().number("x", Double.NaN));
  }
}
