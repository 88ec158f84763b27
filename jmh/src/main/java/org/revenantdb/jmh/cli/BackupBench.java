package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.revenantdb.jmh.backup.ArchiveFork;
import org.revenantdb.jmh.backup.BackupFork;
import org.revenantdb.jmh.backup.FollowerFork;

/**
 * The cost of a backup and of an archive for concurrent writers, and the speed of a backup; the lag
 * of a follower, and the time of its promotion; a restore to a moment, and copies by others. A part
 * that fails does not affect the others.
 */
final class BackupBench implements Bench {
  private static final List<String> OF_BACKUP =
      List.of(
          "backup_write_ratio",
          "backup_write_ratio_limited",
          "backup_vs_cp",
          "incremental_bytes_ratio");

  private static final List<String> OF_ARCHIVE = List.of("archive_commit_ratio");

  private static final List<String> OF_FOLLOWER = List.of("follower_lag_ms", "promote_seconds");

  private static final List<String> FIGURES =
      Stream.of(OF_BACKUP, OF_ARCHIVE, OF_FOLLOWER, BackupCopies.figures())
          .flatMap(List::stream)
          .toList();

  private static final Map<String, String> UNITS =
      Map.of(
          "cp_mb_per_second", "MB/s",
          "backup_mb_per_second", "MB/s",
          "first_backup_mb_per_second", "MB/s",
          "follower_lag_ms", "ms",
          "follower_lag_median_ms", "ms",
          "promote_seconds", "s",
          "commits_per_second", "1/s");

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
  public boolean measuresSome() {
    return true;
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, settings.quick() ? 1 : 3);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      if (wants(settings, OF_BACKUP)) {
        figures.attempt(() -> backup(session));
      }
      if (wants(settings, OF_ARCHIVE)) {
        figures.attempt(() -> archive(session));
      }
      if (wants(settings, OF_FOLLOWER)) {
        figures.attempt(() -> follower(session));
      }
      if (wants(settings, BackupCopies.figures())) {
        figures.attempt(() -> BackupCopies.measure(session, settings));
      }
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }

  private static boolean wants(Settings settings, List<String> names) {
    return settings.wants(names.toArray(String[]::new));
  }

  private static void backup(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    figures.setting("rows", "4 bytes of key, 200 of value");
    figures.setting("sessions", "4, durable updates of random rows, one a transaction");
    figures.setting("limited", "50 MB/s");
    figures.setting("increment", "one update on each hundredth page since a whole backup");
    one(
        session,
        OF_BACKUP,
        new ForkSession.Child(
            "backup",
            BackupFork.class,
            "DIRECTORY",
            session.sized(200_000, 4_000_000),
            session.sized(1_500, 10_000),
            session.sized(3, 5),
            session.seed()));
  }

  private static void archive(ForkSession session) throws CannotMeasureException {
    session.figures().setting("archive", "8 sessions; shipped every second, on the same device");
    one(
        session,
        OF_ARCHIVE,
        new ForkSession.Child(
            "archive",
            ArchiveFork.class,
            "DIRECTORY",
            session.sized(50_000, 1_000_000),
            session.sized(2_500, 10_000),
            session.sized(3, 5),
            session.seed()));
  }

  private static void follower(ForkSession session) throws CannotMeasureException {
    session
        .figures()
        .setting("follower", "20,000 lazy commits a second; archive and follower every 200 ms");
    one(
        session,
        OF_FOLLOWER,
        new ForkSession.Child(
            "follower",
            FollowerFork.class,
            "DIRECTORY",
            session.sized(20_000, 200_000),
            session.sized(3, 60),
            session.sized(2_000, 20_000),
            session.seed()));
  }

  /** A part with one JVM, named like the part. */
  private static void one(ForkSession session, List<String> names, ForkSession.Child child)
      throws CannotMeasureException {
    Map<String, Sample> samples = session.run(child.name(), List.of(child), UNITS);
    for (String name : names) {
      session.figures().put(name, ForkSession.median(samples, name + "," + child.name()));
    }
  }
}
