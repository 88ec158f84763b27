package org.revenantdb.suite.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.suite.demo.Demo;
import org.revenantdb.suite.demo.DemoOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code ./revenant demo}. */
@Command(
    name = "demo",
    description =
        "Imports the files of the JDK itself, kills the importing process in the "
            + "middle of one big transaction, reopens the database, and compares every byte "
            + "with the files.")
public final class DemoCommand extends DirectoryCommand {

  @Option(names = "--seed", paramLabel = "N", description = "Draws the row of the kill.")
  private @Nullable Long seed;

  @Option(
      names = "--pool",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      defaultValue = "64m",
      description = "Memory for pages, for instance 16m (default: ${DEFAULT-VALUE}).")
  private long pool;

  @Option(
      names = "--scale",
      paramLabel = "N",
      defaultValue = "1",
      description = "Make the big transaction N times as large (default: ${DEFAULT-VALUE}).")
  private int scale;

  @Option(
      names = "--modules",
      paramLabel = "N",
      defaultValue = "0",
      description = "Import only the last N modules of the JDK (default: all).")
  private int modules;

  @Option(names = "--keep", description = "Keep the database.")
  private boolean keep;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to FILE.")
  private @Nullable Path json;

  /** Creates the command with its defaults. */
  public DemoCommand() {}

  @Override
  public Integer call() throws IOException {
    demandPool(pool);
    long drawn = seed == null ? Seeds.fresh() : seed;
    if (dir != null) {
      paths().directory("--dir", dir);
    }
    if (json != null) {
      paths().file("--json", json);
    }
    Demo demo;
    try {
      demo = new Demo(new DemoOptions(drawn, pool, scale, modules, dir, keep), System.out);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(commandLine(), e.getMessage(), e);
    }
    boolean held = demo.run();
    if (json != null) {
      demo.json().writeTo(json);
    }
    return held ? 0 : 1;
  }
}
