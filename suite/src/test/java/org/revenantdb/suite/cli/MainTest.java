package org.revenantdb.suite.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.suite.crash.HistoryFiles;
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
        "model copies --dir x",
        "chaos --crash earthquake",
        "chaos --seconds 0",
        "chaos --kills 500",
        "chaos --subject nobody",
        "chaos --subject lazy --seconds 5",
        "chaos --subject lazy --history x",
        "chaos --subject lazy --states -1",
        "chaos --subject lazy --crash power --kills 2",
        "chaos --subject lazy --crash kill --states 2",
        "chaos --subject lazy --crash kill --kills 0"
      })
  void wrong_usage_isExplained_andExits2(String line) {
    assertEquals(2, run(line.isEmpty() ? new String[0] : line.split(" ")));
    assertTrue(err.toString().contains("Usage: revenant"), err::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"demo", "model", "model big-value", "chaos"})
  void help_isPrinted(String verb) {
    assertEquals(0, run((verb + " --help").split(" ")));
    assertTrue(out.toString().contains("Usage: revenant " + verb), out::toString);
  }

  @Test
  void help_explainsTheExitCodes() {
    for (String verb : List.of("demo", "model", "model big-value", "chaos")) {
      assertEquals(0, run((verb + " --help").split(" ")));
      String help = out.toString();
      out.getBuffer().setLength(0);
      assertTrue(help.contains("Exit codes:"), help);
      assertTrue(help.matches("(?s).*\\R +0 .*\\R +1 .*\\R +2 .*"), help);
    }
  }

  /** Each is refused before anything is run, so a whole run in seconds would be too late. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "chaos --report TEXT",
        "chaos --report TEXT/below",
        "chaos --report=",
        "chaos --report PAGE",
        "chaos --json DIR",
        "chaos --json TEXT/below.json",
        "chaos --json=",
        "chaos --history TEXT",
        "chaos --history TEXT/below",
        "chaos --history=",
        "chaos --dir TEXT",
        "chaos --replay=",
        "chaos --replay DIR",
        "chaos --replay TEXT",
        "chaos --replay DIR/none.zip",
        "model --dir TEXT",
        "model --dir TEXT/below",
        "model --dir=",
        "model big-value --dir TEXT",
        "demo --dir TEXT",
        "demo --json DIR"
      })
  void path_thatCannotBeUsed_isRefusedWithAMessage_andExits2(String line, @TempDir Path dir)
      throws Exception {
    Path text = Files.writeString(dir.resolve("text.txt"), "precious");
    Path page = Files.createDirectories(dir.resolve("page"));
    Files.createDirectory(page.resolve("index.html"));
    String[] arguments =
        line.replace("TEXT", text.toString())
            .replace("PAGE", page.toString())
            .replace("DIR", dir.toString())
            .split(" ");
    assertEquals(2, run(arguments), err::toString);
    String option = line.replaceAll(".*(--[a-z]+).*", "$1");
    String said = err.toString();
    assertTrue(said.startsWith("revenant: " + option + ": "), said);
    assertTrue(said.contains("; "), "no cure: " + said);
    assertTrue(line.endsWith("=") || said.contains(dir.toString()), said);
    assertEquals(1, said.lines().count(), said);
    assertEquals("precious", Files.readString(text));
    try (Stream<Path> left = Files.list(dir)) {
      assertEquals(Set.of(text, page), left.collect(Collectors.toSet()));
    }
  }

  @Test
  @Tag("slow")
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true")
  void histories_areWrittenForElle_aLevelAtATime(@TempDir Path dir) throws Exception {
    Path edn = dir.resolve("new").resolve("edn");
    // A second is too short for much of the suite, so its verdict is not checked here.
    run("chaos", "--seconds", "1", "--crash", "power", "--history", edn.toString());
    List<Path> files = HistoryFiles.assertForElle(edn);
    assertEquals("histories: " + files.size() + " files in " + edn, out.toString().strip());
  }

  @Test
  void directory_inUse_isExplained(@TempDir Path dir) throws Exception {
    Files.writeString(dir.resolve("mine"), "precious");
    assertEquals(1, run("demo", "--dir", dir.toString()));
    assertTrue(err.toString().startsWith("revenant: " + dir + " is not empty"), err::toString);
  }
}
