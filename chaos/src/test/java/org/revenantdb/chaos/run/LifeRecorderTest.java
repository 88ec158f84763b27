package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.fault.DeadFrom;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.oracle.PromiseEvent;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.TinyStore;
import org.revenantdb.chaos.trace.Operation;

/** Recorded lives, and deaths among them. */
class LifeRecorderTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static <S> LifeRecorder<S> recorder(Supplier<CrashSubject<S>> subjects) {
    return new LifeRecorder<>(subjects, /* seed= */ 1, /* lives= */ 1, LIMIT);
  }

  /** A file that a life creates or finds, in which it forces one byte after the other. */
  private abstract static class OneFile implements CrashSubject<Path> {

    @Override
    public Path open(Path dir) {
      return dir.resolve("f");
    }

    @Override
    public void work(Path file, Promises promises) throws IOException {
      for (int i = 0; i < 4; i++) {
        try {
          step(file, promises, promises.seed() + "." + i);
        } catch (IOException e) {
          afterFailure(promises, promises.seed() + "." + i);
        }
      }
    }

    void step(Path file, Promises promises, String value) throws IOException {
      promises.attempt("k", value);
      Path beside = file.resolveSibling("g");
      Files.writeString(beside, value);
      for (Path path : List.of(beside, file.getParent())) {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
          channel.force(true);
        }
      }
      Files.copy(beside, file, StandardCopyOption.REPLACE_EXISTING);
      promises.durable("k", value);
    }

    /** Reports that a step of a life failed. */
    abstract void afterFailure(Promises promises, String value);

    @Override
    public void check(Path file, Recovered recovered) {
      recovered.verify(key -> {
        try {
          return Files.exists(file) ? Files.readString(file) : null;
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }
  }

  /** Continues to report when its process is dead. */
  static final class Talker extends OneFile {
    @Override
    void afterFailure(Promises promises, String value) {
      promises.durable("k", value);
    }
  }

  /** Waits forever when its process is dead. */
  static final class Waiter extends OneFile {
    @Override
    void afterFailure(Promises promises, String value) {
      try {
        Thread.sleep(Duration.ofDays(1));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Runs steps in its own thread, which dies of the errors of the dead process's files. */
  static final class Flusher extends OneFile {
    @Override
    void step(Path file, Promises promises, String value) throws IOException {
      Thread thread =
          new Thread(() -> {
            try {
              super.step(file, promises, value);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      thread.start();
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    void afterFailure(Promises promises, String value) {}
  }

  private static DeadFrom secondForce() {
    return new DeadFrom(operation -> operation.kind() == Kind.FORCE, 2);
  }

  @Test
  void reports_ofADeadProcess_areIgnored() throws IOException {
    Recording recording = recorder(Talker::new).recordDeath(secondForce(), /* before= */ 0);
    assertTrue(recording.usable(), recording.reason());
    List<PromiseEvent> events = recording.promises().events();
    int crash = events.indexOf(new PromiseEvent.Crash(/* death= */ true));
    assertEquals(1, crash, "one attempt, and no answer: " + events);
    assertEquals(2 + 8, events.size());
  }

  @Test
  void thread_thatDiesBecauseItsProcessIsDead_isNotAFaultOfTheSubject() throws IOException {
    Recording recording = recorder(Flusher::new).recordDeath(secondForce(), /* before= */ 0);
    assertTrue(recording.usable(), recording.reason());
  }

  @Test
  void life_thatHangsWhenItsProcessIsDead_isLeftBehind() throws IOException {
    Recording recording = recorder(Waiter::new).recordDeath(secondForce(), /* before= */ 0);
    assertTrue(recording.usable(), recording.reason());
  }

  @Test
  void power_isCutOnlyAfterTheDeath() throws IOException {
    List<Recording> recordings = recorder(BrokenSubjects.Honest::new).recordDeaths(7);
    assertEquals(7, recordings.size());
    assertEquals(7, recordings.stream().mapToLong(Recording::from).distinct().count());
    for (Recording recording : recordings) {
      assertTrue(recording.usable(), recording.reason());
      assertTrue(recording.promises().places().stream().allMatch(p -> p > recording.from()));
      List<Operation> operations = recording.trace().operations();
      assertTrue(operations.getFirst().seq() < recording.from());
      assertTrue(operations.getLast().seq() > recording.from());
    }
    assertEquals(0, recorder(BrokenSubjects.Honest::new).record().from());
  }

  @Test
  void store_thatLosesAtTheDeath_isAFindingAndNotABrokenHarness() throws IOException {
    DeadFrom late = new DeadFrom(operation -> operation.kind() == Kind.FORCE, 30);
    Recording recording =
        recorder(BrokenSubjects.AcknowledgedFromHeap::new).recordDeath(late, /* before= */ 0);
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, 1).withStates(50).withWorkers(1);
    Supplier<CrashSubject<TinyStore>> subjects = BrokenSubjects.AcknowledgedFromHeap::new;
    Outcome outcome = new PowerCutRun<>(subjects, recording, options, new SeenImages()).run();
    assertEquals(Verdict.LOST, outcome.verdict(), recording.reason());
  }

  @Test
  void store_thatDoesNotOpenAfterTheDeath_isAFinding() throws IOException {
    Recording recording = recorder(Stubborn::new).recordDeath(secondForce(), /* before= */ 0);
    assertEquals(Verdict.CORRUPT, recording.verdict(), recording.reason());
    assertFalse(recording.reason().isEmpty());
  }

  /** Opens only files that were closed in order. */
  static final class Stubborn implements CrashSubject<TinyStore> {

    private final BrokenSubjects.Honest honest = new BrokenSubjects.Honest();

    @Override
    public TinyStore open(Path dir) throws IOException {
      if (Files.exists(dir.resolve("current.tmp"))) {
        throw new IOException("not closed");
      }
      return honest.open(dir);
    }

    @Override
    public void work(TinyStore store, Promises promises) throws IOException {
      honest.work(store, promises);
    }

    @Override
    public void check(TinyStore store, Recovered recovered) {
      honest.check(store, recovered);
    }
  }

  /** A file for each key, written at once and in several pages. */
  private abstract static class LargeFiles implements CrashSubject<Path> {

    @Override
    public Path open(Path dir) {
      return dir;
    }

    @Override
    public void work(Path dir, Promises promises) throws IOException {
      for (int i = 0; i < 4; i++) {
        String key = "k" + promises.seed() + "." + i;
        String value = key.repeat(3 * 4096 / key.length()) + ";";
        promises.attempt(key, value);
        try (FileChannel file =
                FileChannel.open(
                    dir.resolve(key), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileChannel names = FileChannel.open(dir, StandardOpenOption.READ)) {
          file.write(StandardCharsets.US_ASCII.encode(value));
          file.force(true);
          names.force(true);
        }
        promises.durable(key, value);
      }
    }

    @Override
    public void check(Path dir, Recovered recovered) {
      recovered.verify(key -> {
        try {
          Path file = dir.resolve(key);
          String found = Files.exists(file) ? Files.readString(file) : "";
          return isWhole(found) ? found : null;
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }

    abstract boolean isWhole(String found);
  }

  /** Assumes that a file with any bytes has all of them. */
  static final class TrustsTheLength extends LargeFiles {
    @Override
    boolean isWhole(String found) {
      return !found.isEmpty();
    }
  }

  /** Checks for the end mark that it wrote. */
  static final class LooksForTheEnd extends LargeFiles {
    @Override
    boolean isWhole(String found) {
      return found.endsWith(";");
    }
  }

  private static DeadFrom thirdWrite() {
    return new DeadFrom(operation -> operation.kind() == Kind.WRITE, 3);
  }

  private static DeadFrom insideTheThirdWrite() {
    long seed = 1; // draws one page of three, not none
    return new DeadFrom(operation -> operation.kind() == Kind.WRITE, 3, seed);
  }

  @Test
  void store_thatTrustsTheLengthOfAFile_isFoundByADeathInsideAWrite() throws IOException {
    Recording between = recorder(TrustsTheLength::new).recordDeath(thirdWrite(), /* before= */ 0);
    assertTrue(between.usable(), between.reason());
    Recording inside =
        recorder(TrustsTheLength::new).recordDeath(insideTheThirdWrite(), /* before= */ 0);
    assertEquals(Verdict.CORRUPT, inside.verdict(), inside.reason());
    assertTrue(inside.reason().contains("PHANTOM"), inside.reason());
    Recording careful =
        recorder(LooksForTheEnd::new).recordDeath(insideTheThirdWrite(), /* before= */ 0);
    assertTrue(careful.usable(), careful.reason());
  }

  @Test
  void store_thatTrustsTheLengthOfAFile_isFoundByDrawnDeaths() throws IOException {
    List<Recording> recordings = recorder(TrustsTheLength::new).recordDeaths(12);
    assertTrue(recordings.stream().anyMatch(one -> one.verdict() == Verdict.CORRUPT));
    for (Recording recording : recorder(LooksForTheEnd::new).recordDeaths(12)) {
      assertTrue(recording.usable(), recording.reason());
    }
  }
}
