package org.revenantdb.chaos.revenant.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.record.RecordingFileSystem;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;
import org.revenantdb.recovery.file.StorageException;

/**
 * Recordings of databases whose creation was killed at a force of names, and that were then opened
 * again and worked with: names that the first process left unforced are relied on by the second.
 */
final class KilledCreations {

  private KilledCreations() {}

  /** One recording for each force of a directory in a creation. */
  static List<Recording> record(long seed) throws IOException {
    List<Recording> recordings = new ArrayList<>();
    DeadFrom death;
    do {
      death = DeadFrom.directoryForce(recordings.size() + 1);
      Path directory =
          Files.createDirectory(MemoryFileSystem.of(new DiskImage()).root().resolve("store"));
      RecordingFileSystem disk = RecordingFileSystem.over(directory).faults(death).start();
      tryToCreate(disk.directory());
      if (death.isDead()) {
        death.another();
        recordings.add(live(disk, seed));
      }
    } while (death.isDead());
    return recordings;
  }

  private static void tryToCreate(Path directory) {
    try {
      new ShortSubject().open(directory).close();
    } catch (StorageException dead) {
      // as it should be
    }
  }

  private static Recording live(RecordingFileSystem disk, long seed) {
    ShortSubject subject = new ShortSubject();
    PromiseLog promises = new PromiseLog();
    try (Database db = subject.open(disk.directory())) {
      subject.work(db, promises.promises(disk.clock(), seed));
    }
    return new Recording(disk.trace(), promises, Verdict.SURVIVED, "", disk.clock().next());
  }
}
