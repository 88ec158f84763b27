package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.RingFile;

/** Logs with a mapped ring in a real directory, and copies of it as a killed process leaves it. */
final class RingFixture {
  static final int SEGMENT = LogFixture.SEGMENT;
  static final int CAPACITY = 1 << 15;

  private RingFixture() {}

  static LogOptions options() {
    return new LogOptions(SEGMENT, CAPACITY, 1 << 20, "ring", new IoStatistics());
  }

  static Log create(Path database) throws IOException {
    Files.createDirectories(database);
    return inFile(Restart.createFirst(database.resolve("log"), LogFixture.ID, options()));
  }

  /** As if somebody had committed lazily: the ring is in a file from now on. */
  static Log inFile(Log log) {
    log.awaitUnbroken(log.tail());
    assertTrue(log.isRingInFile());
    return log;
  }

  /**
   * What a kill leaves of an idle log. Nothing was forced and less than half of the ring is used,
   * so its writer has written nothing.
   */
  static Path killed(Path database, Path copy) throws IOException {
    try (Stream<Path> files = Files.walk(database)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(database.relativize(file).toString()));
      }
    }
    return copy;
  }

  static Restart analyse(Path database, ControlState state) {
    return Restart.analyse(
        database.resolve("log"),
        LogFixture.ID,
        SEGMENT,
        state,
        PageRange.ANY,
        new IoStatistics(),
        RestartProgress.NONE);
  }

  static Restart analyse(Path database) {
    return analyse(database, LogFixture.firstState());
  }

  /** Pages that a restart finds, without the file of the ring. */
  static List<Integer> pagesWithoutRing(Path database, ControlState state) throws IOException {
    Files.deleteIfExists(database.resolve(RingFile.NAME));
    return LogFixture.pages(analyse(database, state));
  }
}
