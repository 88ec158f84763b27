package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * The content of a disk in memory if the process dies at a moment: from then on nothing is carried
 * out.
 */
final class FrozenDisk {

  private FrozenDisk() {}

  /** The work on a database before its process dies. */
  @FunctionalInterface
  interface Life {
    /** Works, and returns when the process is to die. */
    void live(Database db);
  }

  /** Runs a life on an empty disk, kills it, and returns the files. */
  static DiskImage after(DatabaseOptions options, Life life) throws IOException {
    DiskImage disk = new DiskImage();
    Path directory = Files.createDirectory(MemoryFileSystem.of(disk).root().resolve("db"));
    Switch power = new Switch();
    RecordingFileSystem seen =
        RecordingFileSystem.over(directory)
            .keepTrace(false)
            .stacks(false)
            .faults(operation -> power.off ? new Fault.Fail("the process is dead") : Fault.NONE)
            .start();
    Database db = Database.open(seen.directory(), options);
    try {
      life.live(db);
    } finally {
      power.off = true;
      closeDead(db);
    }
    return DiskImage.of(directory);
  }

  /** Ends the threads. The disk accepts no writes any more. */
  private static void closeDead(Database db) {
    try {
      db.close();
    } catch (RuntimeException dead) {
      // expected
    }
  }

  private static final class Switch {
    private volatile boolean off;
  }
}
