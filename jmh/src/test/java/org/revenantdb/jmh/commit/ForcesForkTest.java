package org.revenantdb.jmh.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import jdk.jfr.Event;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

class ForcesForkTest {
  @TempDir Path directory;

  /** An event without a path, as the engine has some. */
  static final class Other extends Event {}

  @Test
  void events_that_are_no_forces_are_not_counted() throws Exception {
    Path place = directory.toRealPath();
    Path log = place.resolve("rows-0").resolve("log");
    Path events = place.resolve("events.jfr");
    Files.createDirectories(log);
    try (Recording recording = new Recording()) {
      recording.enable(ForcesFork.FORCE).withThreshold(Duration.ZERO).withoutStackTrace();
      recording.start();
      new Other().commit();
      force(log.resolve("segment"));
      force(place.resolve("rows-0").resolve("data"));
      recording.stop();
      recording.dump(events);
    }
    assertEquals(Map.of("rows-0", 1L), ForcesFork.count(events, place));
  }

  private static void force(Path path) {
    try (StorageFile file = StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true)) {
      file.preallocate(0, 1);
      file.force();
    }
  }
}
