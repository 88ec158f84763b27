package org.revenantdb.chaos.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine command = Main.command();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return command.execute(arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "dance",
        "demo --seed x",
        "demo --pool much",
        "demo --pool 1k",
        "demo --scale 0",
        "demo --modules 1",
        "model --only luck",
        "model big-value --bytes -",
        "chaos --crash earthquake",
        "chaos --seconds 0"
      })
  void wrong_usage_isExplained_andExits2(String line) {
    assertEquals(2, run(line.isEmpty() ? new String[0] : line.split(" ")));
    assertTrue(err.toString().contains("Usage: revenant"), err::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"demo", "model", "model big-value", "chaos"})
  void help_isGiven(String verb) {
    assertEquals(0, run((verb + " --help").split(" ")));
    assertTrue(out.toString().contains("Usage: revenant " + verb), out::toString);
  }

  @Test
  void directory_inUse_isExplainedInASentence(@TempDir Path dir) throws Exception {
    Files.writeString(dir.resolve("mine"), "precious");
    assertEquals(1, run("demo", "--dir", dir.toString()));
    assertTrue(err.toString().startsWith("revenant: " + dir + " is not empty"), err::toString);
  }
}
