package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
        "STALE.none | stale.edn.none cannot be read: there is no such file",
        "BAD | bad.edn: lines 1 and 2: value 1 is written to key 1 more than once"
      })
  void what_cannot_be_checked_is_refused_and_says_why(String line, String message) {
    assertEquals(2, run(line));
    assertTrue(err.toString().contains(message), err::toString);
    assertEquals("", out.toString());
  }

  private Path file(String name, String text, Charset charset) throws IOException {
    return Files.writeString(folder.resolve(name), text, charset);
  }

  @Test
  void what_cannot_be_read_is_refused_in_words_for_people_at_a_shell() throws IOException {
    String history = "{:type :ok, :process 0, :value [[:w \u00fcber 1]]}";
    Path latin = file("latin.edn", history, StandardCharsets.ISO_8859_1);
    Path wide = file("wide.edn", history, StandardCharsets.UTF_16);
    assertEquals(2, run(latin + " " + wide + " " + folder));
    String notUtf8 = " cannot be read: it is not UTF-8: convert it, with iconv for example\n";
    assertTrue(err.toString().contains(latin + notUtf8), err::toString);
    assertTrue(err.toString().contains(wide + notUtf8), err::toString);
    assertTrue(err.toString().contains(folder + " cannot be read: "), err::toString);
    assertFalse(err.toString().contains("Exception"), err::toString);
  }

  @Test
  void a_key_that_is_a_list_and_a_register_is_refused_with_both_lines() throws IOException {
    String text =
        """
        {:type :invoke, :process 0, :value [[:append :x 1]]}

        {:type :invoke, :process 1, :value [[:w :x 1]]}
        {:type :ok, :process 1, :value [[:w :x 1]]}
        """;
    Path mixed = file("mixed.edn", text, StandardCharsets.UTF_8);
    assertEquals(2, run(mixed.toString()));
    assertTrue(
        err.toString()
            .startsWith("history: " + mixed + ": lines 1 and 4: key :x is used both as a list"),
        err::toString);
  }

  @Test
  void a_file_is_named_once_and_as_it_was_given() throws IOException {
    Path odd = Path.of(folder + "/./bad.edn"); // the same text with another name
    assertEquals(2, run(folder + "//bad.edn " + odd));
    String named = "value 1 is written to key 1 more than once";
    assertTrue(
        err.toString().startsWith("history: " + folder + "//bad.edn: lines 1 and 2: " + named),
        err::toString);
    err.reset();
    Path noHistory = file("none.edn", "17", StandardCharsets.UTF_8);
    assertEquals(2, run(noHistory.getParent() + "//none.edn"));
    assertTrue(
        err.toString().startsWith("history: " + folder + "//none.edn:1: an event is a map"),
        err::toString);
  }

  /** Exit code 1 says that the level forbids the history. */
  @Test
  void whatever_fails_in_the_command_has_the_exit_code_of_a_refusal() {
    for (Error error : List.of(new StackOverflowError(), new OutOfMemoryError("heap"))) {
      PrintStream failing =
          new PrintStream(out) {
            @Override
            public void println(String line) {
              throw error;
            }
          };
      String[] words = {"--order", "none", stale.toString()};
      int code = HistoryCommand.run(words, failing, new PrintStream(err, true));
      assertEquals(2, code);
    }
    assertTrue(err.toString().contains("the checker failed: java.lang.StackOverflowError"));
    assertTrue(err.toString().contains("does not fit into memory: start java with a larger -Xmx"));
  }

  @Test
  void help_is_no_error() {
    assertEquals(0, run("--help"));
    assertTrue(out.toString().startsWith("Usage: java -jar revenant-history.jar"), out::toString);
  }
}
