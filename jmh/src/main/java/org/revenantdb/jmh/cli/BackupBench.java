package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.revenantdb.jmh.backup.BackupFork;

/** The cost of a backup for concurrent writers, and its speed. */
final class BackupBench implements Bench {
  private static final List<String> FIGURES =
      List.of("backup_write_ratio", "backup_write_ratio_limited", "backup_vs_cp");

  private static final Map<String, String> UNITS =
      Map.of("cp_mb_per_second", "MB/s", "backup_mb_per_second", "MB/s");

  @Override
  public String name() {
    return "backup";
  }

  @Override
  public String question() {
    return "What does a backup cost concurrent writers, and how fast is it?";
  }

  @Override
  public List<String> promises() {
    return FIGURES;
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, settings.quick() ? 1 : 3);
    figures.setting("rows", "4 bytes of key, 200 of value");
    figures.setting("sessions", "4, durable updates of random rows, one a transaction");
    figures.setting("limited", "50 MB/s");
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      String child = "backup";
      Map<String, Sample> samples =
          session.run(
              "backup",
              List.of(
                  new ForkSession.Child(
                      child,
                      BackupFork.class,
                      "DIRECTORY",
                      session.sized(200_000, 4_000_000),
                      session.sized(1_500, 10_000),
                      session.sized(3, 5),
                      session.seed())),
              UNITS);
      for (String name : FIGURES) {
        figures.put(name, ForkSession.median(samples, name + "," + child));
      }
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }
}
