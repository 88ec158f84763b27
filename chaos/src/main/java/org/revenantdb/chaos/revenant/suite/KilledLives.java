package org.revenantdb.chaos.revenant.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.record.RecordingFileSystem;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.recovery.file.StorageException;

/**
 * Recordings of databases whose process dies at a force and that are then opened again and worked
 * with: what the first process left unforced the second one reads, and must not rely on.
 */
final class KilledLives {

  private KilledLives() {}

  /**
   * Two lives.
   *
   * @param recording of both
   * @param next the place at which the second one began
   */
  record Killed(Recording recording, long next) {}

  /** Dead at each force of names in a creation, and at each of so many forces of the data file. */
  static List<Recording> record(long seed, int forcesOfData) throws IOException {
    List<Recording> recordings = new ArrayList<>();
    recordings.addAll(all(DeadFrom::directoryForce, Integer.MAX_VALUE, seed));
    recordings.addAll(all(DeadFrom::dataForce, forcesOfData, seed));
    return recordings;
  }

  private static List<Recording> all(IntFunction<DeadFrom> death, int most, long seed)
      throws IOException {
    List<Recording> recordings = new ArrayList<>();
    for (int nth = 1; nth <= most; nth++) {
      Killed killed = record(death.apply(nth), seed);
      if (killed == null) {
        break;
      }
      recordings.add(killed.recording);
    }
    return recordings;
  }

  /** Both lives, or null if the first one came to its end. */
  static @Nullable Killed record(DeadFrom death, long seed) throws IOException {
    Path directory =
        Files.createDirectory(MemoryFileSystem.of(new DiskImage()).root().resolve("store"));
    RecordingFileSystem disk = RecordingFileSystem.over(directory).faults(death).start();
    PromiseLog promises = new PromiseLog();
    try {
      live(disk, promises, seed);
    } catch (StorageException | DatabaseStoppedException | OutcomeUnknownException dead) {
      // as it should be
    }
    if (!death.isDead()) {
      return null;
    }
    death.another();
    long next = disk.clock().next();
    live(disk, promises, seed + 1);
    long end = disk.clock().next();
    return new Killed(new Recording(disk.trace(), promises, Verdict.SURVIVED, "", end), next);
  }

  private static void live(RecordingFileSystem disk, PromiseLog promises, long seed) {
    ShortSubject subject = new ShortSubject();
    try (Database db = subject.open(disk.directory())) {
      subject.work(db, promises.promises(disk.clock(), seed));
    }
  }
}
