package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The arguments of the command, what it says and how it ends. */
class HistoryCommandTest {

  @TempDir private Path folder;
  private Path stale;
  private Path bad;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  /** A read of nothing, begun after the write had ended: only real time forbids it. */
  @BeforeEach
  void files() throws IOException {
    stale =
        Files.writeString(
            folder.resolve("stale.edn"),
            """
            {:type :invoke, :process 0, :f :txn, :value [[:w 1 1]]}
            {:type :ok, :process 0, :f :txn, :value [[:w 1 1]]}
            {:type :invoke, :process 1, :f :txn, :value [[:r 1 nil]]}
            {:type :ok, :process 1, :f :txn, :value [[:r 1 nil]]}
            """);
    bad =
        Files.writeString(
            folder.resolve("bad.edn"),
            """
            {:type :ok, :process 0, :value [[:w 1 1]]}
            {:type :ok, :process 0, :value [[:w 1 1]]}
            """);
  }

  private int run(String line) {
    String[] words =
        line.replace("STALE", stale.toString()).replace("BAD", bad.toString()).split(" ");
    return HistoryCommand.run(
        words,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @CsvSource({
    "STALE, 1",
    "--order none STALE, 0",
    "--order=session STALE, 0",
    "--order real-time STALE, 1",
    "--level snapshot --order none STALE STALE, 0",
    "--level=read-committed STALE, 0",
    "--order none STALE BAD, 2"
  })
  void the_exit_code_tells_the_worst_of_the_files(String line, int code) {
    assertEquals(code, run(line), out + "\n" + err);
  }

  @Test
  void a_file_that_is_allowed_is_told_with_its_counts() {
    assertEquals(0, run("--order none STALE"));
    assertEquals(stale + ": 2 transactions, SERIALIZABLE, 2 committed: allowed\n", out.toString());
    assertEquals("", err.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--level linearizable STALE | history: --level has no value linearizable.",
        "--order STALE --level | history: --order has no value",
        "--level | history: --level needs a value.",
        "--fast STALE | history: there is no option --fast.",
        "--order=none | history: no file is given.",
        "STALE.none | cannot be read",
        "BAD | value 1 is written to key 1 more than once"
      })
  void what_cannot_be_checked_is_refused_and_says_why(String line, String message) {
    assertEquals(2, run(line));
    assertTrue(err.toString().contains(message), err::toString);
    assertEquals("", out.toString());
  }

  @Test
  void help_is_no_error() {
    assertEquals(0, run("--help"));
    assertTrue(out.toString().startsWith("Usage: java -jar revenant-history.jar"), out::toString);
  }
}
