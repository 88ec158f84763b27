package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** A start that fails while the log runs: no other owner knows the log, so the start ends it. */
class FailedStartTest {
  private static final String THREADS = "failed-start";
  private static final byte[] ID = new byte[16];

  @TempDir Path directory;

  private static LogOptions options(String threads) {
    return new LogOptions(
        LogFixture.SEGMENT, LogFixture.BUFFER, 1 << 20, threads, new IoStatistics());
  }

  @Test
  void a_control_slot_that_cannot_be_written_leaves_no_thread_and_no_open_file_of_the_log() {
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path logs = faulty.wrap(directory.resolve("log"));
    Path path = faulty.wrap(directory.resolve("revenant.data"));
    try (StorageFile data = StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true)) {
      ControlFile control;
      try (Log log = Restart.createFirst(logs, ID, options("first-life"))) {
        long tail = log.tail();
        control =
            ControlFile.create(data, new ControlState(0, tail, tail, 0, tail, 1, false, 0, 7));
      }
      Restart restart = analyse(logs, control);
      faulty.hook(event -> {
        if (event.is(IoEvent.Kind.WRITE, "revenant.data")) {
          throw new IOException("Input/output error");
        }
      });
      assertThrows(FileException.class, () -> restart.startLife(options(THREADS), control));
      assertEquals(List.of(), threads());
      assertEquals(List.of("revenant.data"), faulty.openFiles());

      faulty.hook(event -> {});
      try (Log log = analyse(logs, control).startLife(options("third-life"), control)) {
        assertEquals(log.life(), control.state().life(), "and the next start is none the worse");
      }
    }
  }

  private static Restart analyse(Path logs, ControlFile control) {
    return Restart.analyse(
        logs,
        ID,
        LogFixture.SEGMENT,
        control.state(),
        PageRange.ANY,
        new IoStatistics(),
        RestartProgress.NONE);
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith(THREADS))
        .sorted()
        .toList();
  }
}
