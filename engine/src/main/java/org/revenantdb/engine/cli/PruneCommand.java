package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.revenantdb.engine.ArchivePolicy;
import org.revenantdb.engine.Database;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code prune ARCHIVE --moments HOURS}: deletes what an archive need not keep. */
@Command(
    name = "prune",
    description = {
      "Deletes old parts of an archive. The newest base is always kept.",
      "A database may write to the archive meanwhile."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:done", "2:wrong usage, or the archive cannot be pruned"})
final class PruneCommand implements Callable<Integer> {
  private static final int MOST_HOURS = 24 * 36_500;

  private final PrintWriter out;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "ARCHIVE", description = "the directory of the archive")
  private Path archive = Path.of("");

  @Option(
      names = "--moments",
      required = true,
      paramLabel = "HOURS",
      description = "keeps any moment of the last HOURS hours")
  private int moments;

  @Option(
      names = "--days",
      paramLabel = "N",
      description = "keeps a base of each of the last N days")
  private int days;

  PruneCommand(PrintWriter out) {
    this.out = out;
  }

  @Override
  public Integer call() {
    if (moments < 0 || moments > MOST_HOURS || days < 0 || days > MOST_HOURS / 24) {
      throw new ParameterException(
          spec.commandLine(),
          "--moments must be 0 to " + MOST_HOURS + ", and --days 0 to " + MOST_HOURS / 24);
    }
    ArchivePolicy policy = ArchivePolicy.moments(Duration.ofHours(moments)).withDays(days);
    int deleted = Database.pruneArchive(archive, policy);
    out.println("archive         " + archive);
    out.printf("bases deleted   %,d%n", deleted);
    return Main.SOUND;
  }
}
