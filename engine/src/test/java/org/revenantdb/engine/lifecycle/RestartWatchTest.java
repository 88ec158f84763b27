package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.RestartStatus;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.counters.CountersFile;
import org.revenantdb.engine.counters.StoredCounters;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.testing.Await;

/** How far a restart is: who is told of it, and how often. */
class RestartWatchTest {
  private static final long MS = 1_000_000;
  private static final int MIB = 1 << 20;

  @TempDir private Path folder;

  private final List<RestartStatus> told = new ArrayList<>();
  private final List<RestartStatus> filed = new ArrayList<>();
  private long now = -1_000 * MS;

  private RestartWatch watch() {
    return new RestartWatch(told::add, filed::add, () -> now);
  }

  @Test
  void listener_isToldOfEachPhase_andAFewTimesASecondInBetween() {
    RestartWatch watch = watch();
    watch.begin(RestartPhase.ANALYSIS, 0);
    for (int i = 1; i <= 40; i++) {
      now += 50 * MS;
      watch.analysed(i * MIB);
    }
    watch.end(RestartPhase.ANALYSIS, 41 * MIB);
    assertEquals(1 + 10 + 1, told.size(), told::toString);
    assertEquals(new RestartStatus(RestartPhase.ANALYSIS, 0, 0), told.getFirst());
    assertEquals(new RestartStatus(RestartPhase.ANALYSIS, 4 * MIB, 0), told.get(1));
    RestartStatus end = new RestartStatus(RestartPhase.ANALYSIS, 41 * MIB, 41 * MIB);
    assertEquals(end, told.getLast());
  }

  @Test
  void listener_isToldOfPages_whileRedoGoesOnInTheBackground_andTheFileIsNot() {
    RestartWatch watch = watch();
    watch.begin(RestartPhase.REDO, 900);
    now += 3_000 * MS;
    watch.redone(600, 900);
    watch.end(RestartPhase.REDO, 900);
    assertEquals(
        List.of(
            new RestartStatus(RestartPhase.REDO, 0, 900),
            new RestartStatus(RestartPhase.REDO, 600, 900),
            new RestartStatus(RestartPhase.REDO, 900, 900)),
        told);
    assertEquals(List.of(), filed);
  }

  @Test
  void file_isWrittenFromTheSecondSecondOn_andOnceASecond() {
    RestartWatch watch = watch();
    watch.begin(RestartPhase.ANALYSIS, 0);
    for (int i = 1; i <= 35; i++) {
      now += 100 * MS;
      watch.analysed(i);
    }
    watch.end(RestartPhase.ANALYSIS, 35);
    assertEquals(List.of(10L, 20L, 30L), filed.stream().map(RestartStatus::done).toList());
  }

  @Test
  void listener_thatThrows_isToldAgain() {
    int[] calls = {0};
    RestartWatch watch =
        new RestartWatch(
            status -> {
              if (++calls[0] == 1) {
                throw new StackOverflowError();
              }
              throw new IllegalStateException("no");
            },
            filed::add,
            () -> now);
    watch.begin(RestartPhase.ANALYSIS, 0);
    watch.end(RestartPhase.ANALYSIS, 1);
    assertEquals(2, calls[0]);
  }

  /** A database as a crash leaves it, with more than a MiB of log to be redone. */
  private Path killed() throws IOException {
    Path directory = folder.resolve("db");
    Path killed = folder.resolve("killed");
    try (Database db = Samples.open(directory)) {
      for (int i = 0; i < 300; i++) {
        Samples.put(db, "t", "k" + i, "v".repeat(2_000));
      }
      copy(directory, killed);
    }
    return killed;
  }

  private static void copy(Path from, Path to) throws IOException {
    LiveCopy.copy(from, to, name -> !name.equals(CountersFile.FILE_NAME));
  }

  @Test
  void open_tellsOfBothPhases_onAThreadOfTheEngine_whateverTheListenerThrows() throws IOException {
    List<Boolean> onAThreadOfTheEngine = new ArrayList<>();
    DatabaseOptions options =
        Samples.SMALL.withRestartListener(status -> {
          told.add(status);
          onAThreadOfTheEngine.add(FileThread.isCurrent());
          throw new IllegalStateException("not now");
        });
    try (Database db = Database.open(killed(), options)) {
      assertFalse(db.recoveryReport().clean());
      assertEquals("v".repeat(2_000), Samples.get(db, "t", "k299"));
    }
    assertFalse(onAThreadOfTheEngine.contains(false));
    assertEquals(RestartPhase.ANALYSIS, told.getFirst().phase());
    assertEquals(0, told.getFirst().done());
    RestartStatus analysed = told.get(told.size() - 1);
    for (RestartStatus status : told) {
      analysed = status.phase() == RestartPhase.ANALYSIS ? status : analysed;
    }
    assertTrue(analysed.done() > 300 * 2_000, told::toString);
    assertEquals(analysed.done(), analysed.total());
    RestartStatus last = told.getLast(); // the close waits for it
    assertEquals(RestartPhase.REDO, last.phase());
    assertTrue(last.done() > 50, last::toString);
    assertEquals(last.done(), last.total());
  }

  @Test
  void flightRecorder_isToldOfEachPhase() throws IOException {
    Path killed = killed();
    Path file = folder.resolve("restart.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(RestartEvent.NAME);
      recording.start();
      Database.open(killed, Samples.SMALL).close();
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().equals(RestartEvent.NAME))
            .sorted(Comparator.comparing(RecordedEvent::getStartTime))
            .toList();
    assertEquals(
        List.of("analysis", "redo"), events.stream().map(e -> e.getString("phase")).toList());
    assertTrue(events.getFirst().getLong("logBytes") > 300 * 2_000);
    assertTrue(events.getLast().getLong("pages") > 50);
  }

  /**
   * The listener makes it last until a second has passed; then it looks, as another process may.
   */
  @Test
  void countersFile_showsHowFarItIs_inTheLifeOfTheControlSlots_andIsThatOfTheDatabaseThen()
      throws IOException {
    Path killed = killed();
    List<StoredCounters> seen = new ArrayList<>();
    List<Integer> lives = new ArrayList<>();
    long begin = System.nanoTime();
    DatabaseOptions options =
        Samples.SMALL.withRestartListener(status -> {
          if (status.phase() == RestartPhase.REDO) {
            return;
          }
          if (status.done() > 0 && status.done() == status.total()) {
            seen.add(Objects.requireNonNull(stored(killed)));
            lives.add(lifeOf(killed));
          } else {
            while (System.nanoTime() - begin < 1_100 * MS * (lives.size() + 1)) {
              Await.pause();
            }
          }
        });
    try (Database db = Database.open(killed, options)) {
      ApiAccess.api().writeCounters(db);
      StoredCounters open = Objects.requireNonNull(stored(killed));
      assertNull(open.restart());
      assertFalse(open.counters().isEmpty());
      assertEquals(lives.getLast() + 1, open.life());
    }
    assertFalse(Files.exists(killed.resolve(CountersFile.FILE_NAME)));
    assertEquals(List.of(1), seen.stream().map(s -> s.restart().phase()).toList());
    assertEquals(lives, seen.stream().map(StoredCounters::life).toList());
    assertEquals(List.of(), seen.getFirst().counters());
  }

  private static StoredCounters stored(Path directory) {
    try (StorageFile data = data(directory)) {
      return StoredCounters.read(directory, DataFileHeader.read(data).databaseId());
    }
  }

  private static int lifeOf(Path directory) {
    try (StorageFile data = data(directory)) {
      return ControlFile.read(data).state().life();
    }
  }

  private static StorageFile data(Path directory) {
    return StorageFile.open(
        directory.resolve(DatabaseFiles.DATA), OpenMode.READ, /* ownerOnly= */ true);
  }

  @Test
  void countersFile_ofARestartThatFails_isTakenAway() throws IOException {
    Path killed = killed();
    try (Stream<Path> logs = Files.list(killed.resolve("log"))) {
      for (Path log : logs.toList()) {
        Files.delete(log);
      }
    }
    long begin = System.nanoTime();
    DatabaseOptions options =
        Samples.SMALL.withRestartListener(status -> {
          while (System.nanoTime() - begin < 1_100 * MS) {
            Await.pause();
          }
        });
    assertThrows(RuntimeException.class, () -> Database.open(killed, options));
    assertFalse(Files.exists(killed.resolve(CountersFile.FILE_NAME)));
  }
}
