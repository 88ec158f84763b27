package org.revenantdb.suite.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** What all options of all verbs have in common; new options are covered automatically. */
class CommandOptionsTest {
  private static final Set<Class<?>> NUMBERS =
      Set.of(int.class, long.class, Integer.class, Long.class);

  private record Told(int code, String out, String err) {}

  private static Told run(List<String> arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Main.command();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Told(
        command.execute(arguments.toArray(String[]::new)), out.toString(), err.toString());
  }

  record Case(List<String> verb, OptionSpec option) {
    @Override
    public String toString() {
      return String.join(" ", verb) + " " + option.longestName();
    }
  }

  private static void collect(CommandLine command, List<String> verb, List<Case> into) {
    for (OptionSpec option : command.getCommandSpec().options()) {
      into.add(new Case(verb, option));
    }
    command
        .getSubcommands()
        .forEach((name, sub) -> {
          List<String> longer = new ArrayList<>(verb);
          longer.add(name);
          collect(sub, longer, into);
        });
  }

  private static List<Case> all() {
    List<Case> all = new ArrayList<>();
    collect(Main.command(), List.of(), all);
    return all;
  }

  static List<Case> numbers() {
    return all().stream()
        .filter(one -> NUMBERS.contains(one.option.type()))
        .filter(one -> !one.option.longestName().equals("--seed")) // any number is valid
        .toList();
  }

  static List<Case> files() {
    return all().stream().filter(one -> one.option.type() == Path.class).toList();
  }

  private static Told run(Case one, String value) {
    List<String> arguments = new ArrayList<>(one.verb);
    arguments.add(one.option.longestName());
    arguments.add(value);
    return run(arguments);
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void a_number_out_of_its_range_is_refused_before_anything_is_run(Case one) {
    for (String value : List.of("-5", "99999999999999999999")) {
      Told told = run(one, value);
      assertEquals(2, told.code, told.err);
      assertTrue(
          told.err.contains(one.option.longestName())
              || told.err.contains("is not a size")
              || told.err.contains("the scale")
              || told.err.contains("modules"),
          told.err);
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void a_path_that_cannot_be_used_is_refused_before_anything_is_run(Case one, @TempDir Path folder)
      throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");
    Told told = run(one, file.resolve("below").toString());
    assertEquals(2, told.code, told.err);
  }

  @Test
  void every_verb_prints_its_version() {
    List<List<String>> verbs = all().stream().map(Case::verb).distinct().toList();
    assertTrue(verbs.size() >= 6, verbs.toString());
    for (List<String> verb : verbs) {
      if (verb.contains("help")) {
        continue;
      }
      for (String option : List.of("-V", "--version")) {
        List<String> arguments = new ArrayList<>(verb);
        arguments.add(option);
        Told told = run(arguments);
        assertEquals(0, told.code, told.err);
        assertTrue(told.out.matches("(?s)RevenantDB \\d+\\.\\d+\\..*"), verb + ": " + told.out);
      }
    }
  }
}
