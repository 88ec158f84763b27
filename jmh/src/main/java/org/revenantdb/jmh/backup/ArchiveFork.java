package org.revenantdb.jmh.backup;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.revenantdb.engine.ArchiveOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM with two databases, of which one has an archive: sessions commit durable updates to the one
 * and to the other in turn.
 *
 * <p>Arguments: directory, rows, milliseconds of a window, number of pairs of windows, seed.
 */
public final class ArchiveFork {
  private static final int SESSIONS = 8;

  private ArchiveFork() {}

  /**
   * Prints {@code = archive_commit_ratio}.
   *
   * @param arguments see the class
   * @throws Exception whatever goes wrong
   */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    int rows = Integer.parseInt(arguments[1]);
    long window = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[2]));
    int pairs = Integer.parseInt(arguments[3]);
    long seed = Long.parseLong(arguments[4]);
    ArchiveOptions archive = ArchiveOptions.to(folder.resolve("archive"));
    try (Database without = Database.open(folder.resolve("without"));
        Database with =
            Database.open(
                folder.resolve("with"), DatabaseOptions.defaults().withArchive(archive))) {
      BackupFork.load(without, rows);
      BackupFork.load(with, rows);
      with.archiveNow(); // the base is made before anything is measured
      perSecond(without, rows, window, seed);
      perSecond(with, rows, window, seed);
      double plain = 0;
      double archived = 0;
      for (int i = 0; i < pairs; i++) {
        plain += perSecond(without, rows, window, seed + i);
        archived += perSecond(with, rows, window, seed + i);
      }
      Told.tell("commits_per_second", archived / pairs);
      Told.tell("archive_commit_ratio", archived / plain);
    }
  }

  private static double perSecond(Database db, int rows, long window, long seed) throws Exception {
    LongAdder commits = new LongAdder();
    Work work = BackupFork.update(db, rows, SESSIONS, seed, commits);
    double rate = BackupFork.perSecond(commits, window);
    work.end();
    return rate;
  }
}
