package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine;

/** The exit codes and the file of the command {@code bench}. */
class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path folder;

  @Test
  void withoutAName_benchListsAllMeasurements() {
    assertEquals(0, run("bench"));
    assertTrue(out.toString().startsWith("answer"), out.toString());
  }

  @Test
  void unknownName_isWrongUsage() {
    assertEquals(2, run("bench", "nonsense"));
    assertTrue(err.toString().contains("nonsense"), err.toString());
  }

  @Test
  void unknownVerb_isWrongUsage() {
    assertEquals(2, run("nonsense"));
  }

  @Test
  void noVerb_isWrongUsage() {
    assertEquals(2, run());
  }

  @Test
  void allMeasured_writesNumbersOnTheTopLevel() throws IOException {
    Path file = folder.resolve("figures.json");
    assertEquals(0, run("bench", "answer", "--quick", "--seed", "7", "--json", "" + file));
    JsonObject json = read(file);
    assertEquals(42.0, json.get("answer").getAsDouble());
    assertEquals(7, json.get("seed").getAsLong());
    assertTrue(json.get("quick").getAsBoolean());
    JsonObject point =
        json.getAsJsonObject("detail").getAsJsonObject("points").getAsJsonObject("guess");
    assertEquals(2.0, point.get("median").getAsDouble());
    assertEquals(3, point.get("n").getAsInt());
    assertEquals(List.of(file), children());
  }

  @Test
  void notAllMeasured_writesTheOtherFigures_andExitsWithThree() throws IOException {
    Path file = folder.resolve("figures.json");
    assertEquals(3, run("bench", "half", "--json", "" + file));
    JsonObject json = read(file);
    assertEquals(1.0, json.get("first").getAsDouble());
    assertFalse(json.has("second"));
    assertTrue(err.toString().contains("second"), err.toString());
  }

  @Test
  void report_isOnePage() throws IOException {
    assertEquals(0, run("bench", "answer", "--report", folder.resolve("report").toString()));
    String page = Files.readString(folder.resolve("report").resolve("answer.html"));
    assertTrue(page.contains("42.000"), page);
  }

  @Test
  void notAllMeasured_isAlsoInTheReport() throws IOException {
    assertEquals(3, run("bench", "half", "--report", folder.toString()));
    assertTrue(Files.readString(folder.resolve("half.html")).contains("second: it is a test"));
  }

  @Test
  void promisedButMissing_isNotMeasured() throws IOException {
    Path file = folder.resolve("figures.json");
    assertEquals(3, run("bench", "forgetful", "--json", "" + file));
    assertEquals(
        "forgotten", read(file).getAsJsonObject("detail").get("notMeasured").getAsString());
  }

  @Test
  void pointThatIsNoNumber_isNotMeasured_andTheRestIsWritten() throws IOException {
    Path file = folder.resolve("figures.json");
    assertEquals(3, run("bench", "odd", "--json", "" + file));
    JsonObject detail = read(file).getAsJsonObject("detail");
    assertEquals("odd is no number", detail.get("notMeasured").getAsString());
    assertEquals(1, detail.getAsJsonObject("points").size());
  }

  @Test
  void brokenMeasurement_writesTheOtherFigures_andExitsWithThree() throws IOException {
    Path file = folder.resolve("figures.json");
    assertEquals(3, run("bench", "broken", "--json", "" + file));
    assertEquals(1.0, read(file).get("first").getAsDouble());
    assertTrue(err.toString().contains("IllegalStateException"), err.toString());
  }

  @Test
  void badPaths_areRefusedBeforeTheMeasuringBegins() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    assertEquals(2, run("bench", "broken", "--json", folder.resolve("none/f.json").toString()));
    assertTrue(err.toString().contains("there is no folder"), err.toString());
    assertEquals(2, run("bench", "broken", "--json", folder.toString()));
    assertEquals(2, run("bench", "broken", "--report", file.toString()));
    assertFalse(err.toString().contains("IllegalStateException"), err.toString());
    assertEquals(List.of(file), children());
  }

  @Test
  void only_measuresTheRequestedFigures_andReportsNoOtherAsMissing() throws IOException {
    Path file = folder.resolve("figures.json");
    assertEquals(0, run("bench", "choosy", "--only", "second", "--json", "" + file));
    assertFalse(read(file).has("first"));
    assertEquals(2.0, read(file).get("second").getAsDouble());
    JsonObject settings = read(file).getAsJsonObject("detail").getAsJsonObject("settings");
    assertEquals("second", settings.get("only").getAsString());
    assertEquals(0, run("bench", "choosy", "--only", "second,first", "--json", "" + file));
    assertTrue(read(file).has("first"));
    assertEquals(0, run("bench", "choosy", "--json", "" + file));
    assertTrue(read(file).has("first"));
  }

  @Test
  void only_anUnknownFigure_isWrongUsage_andNamesThoseThatThereAre() {
    assertEquals(2, run("bench", "choosy", "--only", "first,third"));
    assertTrue(err.toString().contains("no figure third, but first, second"), err.toString());
  }

  @Test
  void only_whereAllIsMeasuredAtOnce_isWrongUsage() {
    assertEquals(2, run("bench", "half", "--only", "first"));
    assertTrue(err.toString().contains("leave out --only"), err.toString());
  }

  /** Without its processor in the pom, JMH finds no benchmark and reports nothing. */
  @Test
  void benchmarks_areGenerated() {
    assertFalse(
        BenchmarkList.defaultList()
            .getAll(
                OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT), List.of())
            .isEmpty());
  }

  private int run(String... arguments) {
    CommandLine command =
        Main.command(
            List.of(
                new Answer(), new Half(), new Choosy(), new Forgetful(), new Odd(), new Broken()));
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return command.execute(arguments);
  }

  private static JsonObject read(Path file) throws IOException {
    return JsonParser.parseString(Files.readString(file)).getAsJsonObject();
  }

  private List<Path> children() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  private static final class Answer implements Bench {
    @Override
    public String name() {
      return "answer";
    }

    @Override
    public String question() {
      return "What is the answer?";
    }

    @Override
    public List<String> promises() {
      return List.of("answer");
    }

    @Override
    public void measure(Settings settings, Figures figures) {
      figures.put("answer", 42);
      figures.point("guess", Sample.of(List.of(1.0, 3.0, 2.0), "ns"));
    }
  }

  private static final class Half implements Bench {
    @Override
    public String name() {
      return "half";
    }

    @Override
    public String question() {
      return "What can be measured by halves?";
    }

    @Override
    public List<String> promises() {
      return List.of("first", "second");
    }

    @Override
    public void measure(Settings settings, Figures figures) throws CannotMeasureException {
      figures.put("first", 1);
      throw new CannotMeasureException("second: it is a test", new IllegalStateException());
    }
  }

  private static final class Choosy implements Bench {
    @Override
    public String name() {
      return "choosy";
    }

    @Override
    public String question() {
      return "Which of the two?";
    }

    @Override
    public List<String> promises() {
      return List.of("first", "second");
    }

    @Override
    public boolean measuresSome() {
      return true;
    }

    @Override
    public void measure(Settings settings, Figures figures) {
      if (settings.wants("first")) {
        figures.put("first", 1);
      }
      if (settings.wants("second")) {
        figures.put("second", 2);
      }
    }
  }

  private static final class Forgetful implements Bench {
    @Override
    public String name() {
      return "forgetful";
    }

    @Override
    public String question() {
      return "What was it?";
    }

    @Override
    public List<String> promises() {
      return List.of("forgotten");
    }

    @Override
    public void measure(Settings settings, Figures figures) {}
  }

  private static final class Odd implements Bench {
    @Override
    public String name() {
      return "odd";
    }

    @Override
    public String question() {
      return "What is nothing divided by nothing?";
    }

    @Override
    public List<String> promises() {
      return List.of();
    }

    @Override
    public void measure(Settings settings, Figures figures) {
      figures.point("odd", Sample.of(List.of(1.0, Double.NaN), "ns"));
      figures.point("even", Sample.of(List.of(2.0), "ns"));
    }
  }

  private static final class Broken implements Bench {
    @Override
    public String name() {
      return "broken";
    }

    @Override
    public String question() {
      return "What goes wrong?";
    }

    @Override
    public List<String> promises() {
      return List.of("first");
    }

    @Override
    public void measure(Settings settings, Figures figures) {
      figures.put("first", 1);
      throw new IllegalStateException("on purpose");
    }
  }
}
