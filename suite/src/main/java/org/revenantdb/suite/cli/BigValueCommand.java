package org.revenantdb.suite.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.engine.Database;
import org.revenantdb.suite.big.BigValue;
import org.revenantdb.suite.model.ModelFailure;
import org.revenantdb.suite.model.RevenantStore;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./revenant model big-value}. */
@Command(
    name = "big-value",
    description =
        "Puts one value of a gigabyte in a JVM with a heap of 64 MiB, kills it in the middle, puts"
            + " it again and reads it back.")
public final class BigValueCommand extends DirectoryCommand {

  @Option(names = "--seed", paramLabel = "N", description = "Draws the byte of the kill.")
  private @Nullable Long seed;

  @Option(
      names = "--bytes",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      defaultValue = "1g",
      description = "Length of the value (default: ${DEFAULT-VALUE}).")
  private long length;

  @Option(
      names = "--pool",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      defaultValue = "16m",
      description = "Memory for pages (default: ${DEFAULT-VALUE}).")
  private long pool;

  /** Creates the command with its defaults. */
  public BigValueCommand() {}

  @Override
  public Integer call() throws IOException {
    demand("--bytes", length, 1, Database.MAX_VALUE_BYTES);
    demandPool(pool);
    Path place = place("revenant-big-value-");
    long drawn = seed == null ? Seeds.fresh() : seed;
    BigValue big =
        new BigValue(
            place.resolve("db"), drawn, length, pool, RevenantStore.Opener.class.getName());
    try {
      System.out.println(big.run());
      FileTrees.delete(dir == null ? place : place.resolve("db"));
      return 0;
    } catch (ModelFailure e) {
      System.out.printf(
          "WRONG  %s%nkept: %s%nrepeat: ./revenant model big-value --seed %d --bytes %d --pool %d%n",
          e.getMessage(), place, drawn, length, pool);
      return 1;
    }
  }
}
