package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.history.readme.OnCall;

/** What the README shows is compiled, run, and says what it shows. */
class HistoryReadmeTest {

  private static final Path EXAMPLE =
      Path.of("src", "test", "java", "org", "revenantdb", "history", "readme", "OnCall.java");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private static List<String> blocks(String language) throws IOException {
    return Pattern.compile("^```" + language + "\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL)
        .matcher(Files.readString(Path.of("README.md")))
        .results()
        .map((MatchResult match) -> match.group(1))
        .toList();
  }

  @Test
  void the_program_is_the_tested_source_and_prints_what_is_shown() throws IOException {
    String source = Files.readString(EXAMPLE);
    assertEquals(source.substring(source.indexOf("import ")), blocks("java").getFirst());
    PrintStream console = System.out;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    try {
      OnCall.main(new String[0]);
    } finally {
      System.setOut(console);
    }
    assertEquals(out.toString(StandardCharsets.UTF_8), blocks("text").getFirst());
  }

  @Test
  void the_file_is_checked_with_the_result_that_is_shown(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("bank.edn"), blocks("clojure").getFirst());
    String command = blocks("console").getFirst();
    assertEquals(
        "$ java -jar revenant-history-0.1.0-SNAPSHOT.jar --level snapshot bank.edn",
        command.lines().findFirst().orElseThrow());
    int code =
        HistoryCommand.run(
            new String[] {"--level", "snapshot", file.toString()},
            new PrintStream(out, true, StandardCharsets.UTF_8),
            System.err);
    assertEquals(HistoryCommand.FORBIDDEN, code);
    assertEquals(
        out.toString(StandardCharsets.UTF_8).replace(folder + "/", ""),
        command.substring(command.indexOf('\n') + 1));
  }

  @Test
  void the_build_has_the_version_of_this_module() throws IOException {
    String version =
        Files.readString(Path.of("pom.xml")).replaceAll("(?s).*?<version>(.*?)</version>.*", "$1");
    String pom = blocks("xml").getFirst();
    assertTrue(
        pom.contains("<artifactId>revenant-history</artifactId>")
            && pom.contains("<version>" + version + "</version>"),
        pom);
  }
}
