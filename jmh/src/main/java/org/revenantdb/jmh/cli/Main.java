package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code ./revenant bench}: measures what it is told to, or lists what there is.
 *
 * <p>Exit codes: 0 every figure was measured, whatever its value; 2 wrong usage; 3 something could
 * not be measured.
 */
public final class Main {
  private static final int CANNOT_MEASURE = 3;
  private static final List<Bench> BENCHES = List.of(new OffHeapBench());

  private Main() {}

  /**
   * Runs the command and ends the JVM with its exit code.
   *
   * @param arguments {@code bench}, then its own
   */
  public static void main(String[] arguments) {
    System.exit(command(BENCHES).execute(arguments));
  }

  static CommandLine command(List<Bench> benches) {
    return new CommandLine(new Revenant()).addSubcommand(new Measure(benches));
  }

  @Command(name = "revenant", subcommands = CommandLine.HelpCommand.class)
  private static final class Revenant implements Runnable {
    @Spec private @Nullable CommandSpec spec;

    @Override
    public void run() {
      throw usage(spec, "say bench, and what to measure");
    }
  }

  @Command(
      name = "bench",
      mixinStandardHelpOptions = true,
      description = "Measures; without a name it lists what can be measured.")
  private static final class Measure implements Callable<Integer> {
    private final List<Bench> benches;

    @Spec private @Nullable CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "NAME", description = "What to measure.")
    private @Nullable String name;

    @Option(names = "--quick", description = "Smaller and shorter, every figure all the same.")
    private boolean quick;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to FILE.")
    private @Nullable Path json;

    @Option(names = "--report", paramLabel = "DIR", description = "Write a page with plots to DIR.")
    private @Nullable Path report;

    @Option(names = "--seed", paramLabel = "N", description = "Where random choices start.")
    private long seed = 1;

    private Measure(List<Bench> benches) {
      this.benches = benches;
    }

    @Override
    public Integer call() throws IOException {
      PrintWriter out = commandLine(spec).getOut();
      if (name == null) {
        benches.forEach(bench -> out.printf("%-12s %s%n", bench.name(), bench.question()));
        return CommandLine.ExitCode.OK;
      }
      Bench bench =
          benches.stream()
              .filter(each -> each.name().equals(name))
              .findFirst()
              .orElseThrow(() -> usage(spec, "there is nothing to measure by the name " + name));
      int exitCode = CommandLine.ExitCode.OK;
      Figures figures = new Figures();
      Bench.Settings settings = new Bench.Settings(quick, seed);
      Surroundings surroundings = Surroundings.here();
      try {
        bench.measure(settings, figures);
      } catch (CannotMeasureException e) {
        commandLine(spec).getErr().println("not measured: " + e.getMessage());
        exitCode = CANNOT_MEASURE;
      }
      figures.figures().forEach((figure, value) -> out.printf("%-32s %10.3f%n", figure, value));
      if (json != null) {
        Figures.write(figures.toJson(settings, surroundings), json);
      }
      if (report != null) {
        Report.write(bench, figures, surroundings, report);
      }
      return exitCode;
    }
  }

  private static ParameterException usage(@Nullable CommandSpec spec, String message) {
    return new ParameterException(commandLine(spec), message);
  }

  /** picocli sets the specification before it runs a command. */
  private static CommandLine commandLine(@Nullable CommandSpec spec) {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    return spec.commandLine();
  }
}
