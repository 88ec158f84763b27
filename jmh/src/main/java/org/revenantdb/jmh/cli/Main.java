package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.engine.Database;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code ./revenant bench}: runs the requested measurements, or lists the available ones.
 *
 * <p>Exit codes: 0 every figure was measured, whatever its value; 2 wrong usage; 3 a figure could
 * not be measured. The figures measured so far are written in any case.
 */
public final class Main {
  private static final int CANNOT_MEASURE = 3;
  private static final List<Bench> BENCHES =
      List.of(
          new LatchBench(),
          new OffHeapBench(),
          new CommitBench(),
          new TreeBench(),
          new LargerThanMemoryBench(),
          new HeavyInsertBench(),
          new SpaceMapBench(),
          new RecoveryBench(),
          new BackupBench(),
          new GcBench(),
          new CollectionsBench(),
          new KafkaBench());

  private Main() {}

  /**
   * Runs the command and ends the JVM with its exit code.
   *
   * @param arguments {@code bench}, then its own
   */
  public static void main(String[] arguments) {
    int code = command(BENCHES).execute(arguments);
    Scratch.keep();
    System.exit(code);
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
      version = "RevenantDB " + Database.VERSION,
      description = {
        "Runs a measurement. Without a name it lists the measurements.",
        "Use an idle machine, or the figures are wrong. A full run may take an hour, one with --quick takes one"
            + " to three minutes; the first run also builds the code. jmh/README.md has the"
            + " questions, and what the figures mean."
      },
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:every figure was measured, whatever its value",
        "2:wrong usage",
        "3:something could not be measured"
      })
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

    @Option(
        names = "--only",
        paramLabel = "FIGURE",
        split = ",",
        description = "Only these figures, and no other points.")
    private Set<String> only = Set.of();

    @Option(names = "--seed", paramLabel = "N", description = "Where random choices start.")
    private long seed = 1;

    private Measure(List<Bench> benches) {
      this.benches = benches;
    }

    @Override
    public Integer call() {
      PrintWriter out = commandLine(spec).getOut();
      if (name == null) {
        benches.forEach(bench -> out.printf("%-13s %s%n", bench.name(), bench.question()));
        return CommandLine.ExitCode.OK;
      }
      Bench bench =
          benches.stream()
              .filter(each -> each.name().equals(name))
              .findFirst()
              .orElseThrow(() ->
                  usage(
                      spec,
                      "there is nothing to measure by the name "
                          + name
                          + ", but "
                          + benches.stream().map(Bench::name).collect(Collectors.joining(", "))));
      demandKnown(bench);
      Output figuresFile;
      Output page;
      try {
        figuresFile = json == null ? null : Output.to(json);
        page = report == null ? null : Output.in(report, bench.name() + ".html");
      } catch (IOException e) {
        throw usage(spec, String.valueOf(e.getMessage()));
      }
      Bench.Settings settings = new Bench.Settings(quick, seed, Set.copyOf(only));
      MeasuredOn surroundings = MeasuredOn.here();
      Figures figures = measure(bench, settings);
      figures
          .figures()
          .forEach((figure, value) -> out.printf(Locale.ROOT, "%-32s %10.3f%n", figure, value));
      figures
          .notMeasured()
          .forEach(it -> commandLine(spec).getErr().println("not measured: " + it));
      boolean complete = figures.notMeasured().isEmpty();
      complete &= write(figuresFile, () -> figures.toJson(settings, surroundings));
      complete &= write(page, () -> Report.page(bench, settings, figures, surroundings));
      return complete ? CommandLine.ExitCode.OK : CANNOT_MEASURE;
    }

    private void demandKnown(Bench bench) {
      List<String> known = bench.measuresSome() ? bench.promises() : List.of();
      for (String figure : only) {
        if (!known.contains(figure)) {
          throw usage(
              spec,
              known.isEmpty()
                  ? bench.name() + " measures all of its figures or none; leave out --only"
                  : bench.name()
                      + " has no figure "
                      + figure
                      + ", but "
                      + String.join(", ", known));
        }
      }
    }

    /** Earlier measurements are not lost, whatever fails. */
    private Figures measure(Bench bench, Bench.Settings settings) {
      Figures figures = new Figures();
      if (!only.isEmpty()) {
        figures.setting("only", String.join(", ", only));
      }
      try {
        bench.measure(settings, figures);
      } catch (CannotMeasureException e) {
        figures.notMeasured(e.sentence());
      } catch (RuntimeException | OutOfMemoryError | StackOverflowError | LinkageError e) {
        figures.notMeasured("the rest: " + e);
        e.printStackTrace(commandLine(spec).getErr());
      }
      for (String promised : bench.promises()) {
        if (settings.wants(promised) && !figures.figures().containsKey(promised)) {
          figures.notMeasured(promised);
        }
      }
      return figures;
    }

    private boolean write(@Nullable Output output, Supplier<String> text) {
      if (output != null) {
        try {
          output.write(text.get());
        } catch (IOException e) {
          commandLine(spec).getErr().println(output + " could not be written: " + e.getMessage());
          return false;
        }
      }
      return true;
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
