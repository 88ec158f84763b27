package org.revenantdb.chaos.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  @Test
  void progress_showsShareRateAndTimeLeft() {
    try (Progress progress = Progress.to(out, false, "import", "files", 1_000)) {
      progress.at(250);
      assertEquals(
          "import                 [######..................]  25 %  250 of 1,000 files, 125/s, 6 s left",
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
  void json_refusesWhatItCannotSay() {
    assertThrows(IllegalArgumentException.class, () -> new JsonReport().number("x", Double.NaN));
  }
}
