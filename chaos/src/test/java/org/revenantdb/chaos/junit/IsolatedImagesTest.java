package org.revenantdb.chaos.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.ImageChecker;
import org.revenantdb.chaos.run.Workers;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/** What a store does to its JVM is neither taken for a state of the disk nor lost. */
class IsolatedImagesTest {

  @TempDir private Path kept;

  @BeforeEach
  void keepFailuresHere() {
    System.setProperty(CrashTestSettings.DIR, kept.toString());
  }

  /** This JVM records the lives of all these stores. */
  @AfterEach
  void forget() {
    ByName.LENGTHS.clear();
    LeavesAThread.OWNED.clear();
    Locks.LOCKED.clear();
    System.clearProperty(CrashTestSettings.DIR);
    System.clearProperty(CrashTestSettings.REPLAY);
    System.clearProperty(Configured.PROPERTY);
  }

  /** Appends numbers to a log, each with its complement, and forces each. Correct. */
  abstract static class Log implements CrashSubject<Path> {

    private static final int VALUES = 6;
    private static final int RECORD = 16;

    /** Called with the log as a crash left it, before anything is read. */
    void found(Path log) throws Exception {}

    /** Called when the log is sound. */
    void opened(Path log) throws Exception {}

    @Override
    public Path open(Path dir) throws Exception {
      Path log = dir.resolve("log");
      found(log);
      try (FileChannel file = channel(log)) {
        file.truncate(last(file)[0]);
        file.force(true);
      }
      try (FileChannel names = FileChannel.open(dir)) {
        names.force(true);
      }
      opened(log);
      return log;
    }

    private static FileChannel channel(Path log) throws IOException {
      return FileChannel.open(
          log, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** The length of the sound part, and its last number. */
    private static long[] last(FileChannel file) throws IOException {
      long[] found = {0, 0};
      ByteBuffer record = ByteBuffer.allocate(RECORD);
      while (file.read(record.clear(), found[0]) == RECORD
          && record.getLong(0) == ~record.getLong(8)) {
        found[0] += RECORD;
        found[1] = record.getLong(0);
      }
      return found;
    }

    @Override
    public void work(Path log, Promises promises) throws Exception {
      for (int i = 1; i <= VALUES; i++) {
        long value = Math.floorMod(promises.seed(), 1_000_000) * 100 + i;
        promises.attempt("last", Long.toString(value));
        put(log, value);
        promises.durable("last", Long.toString(value));
      }
    }

    void put(Path log, long value) throws Exception {
      try (FileChannel file = channel(log)) {
        ByteBuffer record = ByteBuffer.allocate(RECORD).putLong(value).putLong(~value).flip();
        file.write(record, file.size());
        file.force(true);
      }
    }

    @Override
    public void check(Path log, Recovered recovered) throws Exception {
      try (FileChannel file = channel(log)) {
        long value = last(file)[1];
        recovered.verify(key -> value == 0 ? null : Long.toString(value));
      }
    }

    /** The log has its name, and nothing was written. */
    static boolean isEmpty(Path log) throws IOException {
      return Files.exists(log) && Files.size(log) == 0;
    }
  }

  private static Events run(Class<?> type) {
    return EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(type))
        .execute()
        .testEvents();
  }

  private static void assertPasses(Class<?> type) {
    Events events = run(type);
    assertEquals(1, events.succeeded().count(), () -> events.list().toString());
  }

  private static String message(Events events) {
    return String.valueOf(
        events.finished().stream()
            .flatMap(event -> event.getPayload(TestExecutionResult.class).stream())
            .flatMap(result -> result.getThrowable().stream())
            .findFirst()
            .orElseThrow()
            .getMessage());
  }

  private static String failed(Class<?> type) {
    Events events = run(type);
    assertEquals(1, events.failed().count(), () -> events.list().toString());
    return message(events);
  }

  private static String notMeasured(Class<?> type) {
    Events events = run(type);
    assertEquals(1, events.aborted().count(), () -> events.list().toString());
    String message = message(events);
    assertTrue(message.startsWith("NOT_MEASURED"), message);
    return message;
  }

  /** Remembers by the name of a file how long it was, and refuses one that has become shorter. */
  abstract static class ByName extends Log {
    private static final Map<String, Long> LENGTHS = new ConcurrentHashMap<>();

    @Override
    void found(Path log) throws Exception {
      long size = Files.exists(log) ? Files.size(log) : 0;
      long before = LENGTHS.merge(log.getFileName().toString(), size, Math::max);
      if (size < before) {
        throw new IOException(log + " was " + before + " bytes long and has " + size);
      }
    }
  }

  @CrashTest(states = 6, workers = 1, seed = 3)
  static class ByNameHere extends ByName {}

  @CrashTest(states = 6, workers = 1, seed = 3, isolated = true)
  static class ByNameIsolated extends ByName {}

  @Test
  void
      static_state_by_the_name_of_a_file_is_no_failure_of_the_store_and_the_message_names_the_cure() {
    String message = notMeasured(ByNameHere.class);
    assertTrue(message.contains("static state of the store leaks between images"), message);
    assertTrue(message.contains("isolated = true"), message);
  }

  @Test
  void isolated_images_do_not_see_the_static_state_of_others() {
    assertPasses(ByNameIsolated.class);
  }

  /** Ends its JVM when its log is empty. */
  @CrashTest(
      states = 12,
      workers = 1,
      seed = 3,
      isolated = true,
      profile = PlatformProfile.NAMES_LOST)
  static class Exits extends Log {
    @Override
    void found(Path log) throws Exception {
      if (isEmpty(log)) {
        System.err.println("the last words of the store");
        System.exit(9);
      }
    }
  }

  @Test
  void a_store_that_ends_its_isolated_jvm_has_failed_in_that_image_with_code_and_output() {
    String message = failed(Exits.class);
    assertTrue(message.startsWith("CORRUPT"), message);
    assertFalse(message.contains("HARNESS_BROKEN"), message);
    assertTrue(message.contains("open failed"), message);
    assertTrue(message.contains("the JVM ended with exit code 9"), message);
    assertTrue(message.contains("the last words of the store"), message);
    assertTrue(message.contains("IsolatedImagesTest$Exits.found"), message);
  }

  /** Leaves a thread behind when it repairs an empty log, which owns logs of that name. */
  abstract static class LeavesAThread extends Log {
    private static final Map<String, Path> OWNED = new ConcurrentHashMap<>();

    @Override
    void found(Path log) throws Exception {
      String name = log.getFileName().toString();
      Path owner = OWNED.get(name);
      if (owner != null && !owner.equals(log)) {
        throw new IOException("a thread still owns " + owner);
      }
      if (isEmpty(log)) {
        CountDownLatch begun = new CountDownLatch(1);
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              OWNED.put(name, log);
              begun.countDown();
              while (true) {
                LockSupport.park();
              }
            });
        begun.await();
      }
    }
  }

  @CrashTest(states = 12, workers = 1, seed = 3, profile = PlatformProfile.NAMES_LOST)
  static class LeavesAThreadHere extends LeavesAThread {}

  @CrashTest(
      states = 12,
      workers = 1,
      seed = 3,
      isolated = true,
      profile = PlatformProfile.NAMES_LOST)
  static class LeavesAThreadIsolated extends LeavesAThread {}

  @Test
  void a_thread_that_stays_is_no_failure_of_the_store() {
    assertTrue(notMeasured(LeavesAThreadHere.class).contains("isolated = true"));
    LeavesAThread.OWNED.clear();
    assertPasses(LeavesAThreadIsolated.class);
  }

  /** Hangs when its log is empty. */
  @CrashTest(
      states = 12,
      workers = 1,
      seed = 3,
      isolated = true,
      timeoutSeconds = 1,
      profile = PlatformProfile.NAMES_LOST)
  static class Hangs extends Log {
    @Override
    void found(Path log) throws Exception {
      if (isEmpty(log)) {
        new CountDownLatch(1).await();
      }
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void a_store_that_hangs_in_its_isolated_jvm_has_failed_and_its_stack_is_told() {
    String message = failed(Hangs.class);
    assertTrue(message.startsWith("CORRUPT"), message);
    assertTrue(message.contains("open failed: it did not end within 1 s"), message);
    assertTrue(message.contains("IsolatedImagesTest$Hangs.found"), message);
  }

  /** Takes longer to be made in another JVM than a step may take, as on a slow machine. */
  @CrashTest(states = 4, workers = 1, seed = 3, isolated = true, timeoutSeconds = 1)
  static class StartsSlowly extends Log {
    private static volatile boolean here;

    StartsSlowly() {
      long due = System.nanoTime() + Duration.ofSeconds(3).toNanos();
      while (!here && System.nanoTime() < due) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
    }
  }

  /** Failed with "it hangs", except on a busy machine, where less time counts. */
  @Test
  @Drawn(oneIn = 4)
  void a_slow_start_of_an_isolated_jvm_is_no_hang() {
    StartsSlowly.here = true;
    assertPasses(StartsSlowly.class);
  }

  /** Keeps the lock on a name if a force has failed. The end of a process would release it. */
  abstract static class Locks extends Log {
    private static final Map<String, Path> LOCKED = new ConcurrentHashMap<>();

    @Override
    void opened(Path log) throws Exception {
      if (LOCKED.get(log.getFileName().toString()) != null) {
        throw new IOException(log + " is locked in this JVM");
      }
    }

    @Override
    void put(Path log, long value) throws Exception {
      LOCKED.put(log.getFileName().toString(), log);
      super.put(log, value); // nothing is unlocked if this fails
      LOCKED.remove(log.getFileName().toString());
    }
  }

  @CrashTest(
      states = 1,
      faults = true,
      faultKinds = FaultKind.FORCE_FAILS,
      faultLives = 2,
      workers = 1,
      seed = 3)
  static class LocksHere extends Locks {}

  @Test
  void static_state_that_a_failed_life_left_is_no_failure_of_the_next_process() {
    assertTrue(notMeasured(LocksHere.class).contains("static state of the store leaks"));
  }

  /** Fails if the power is cut while a file of the recovery is there. */
  @CrashTest(
      lives = 1,
      depth = 2,
      states = 60,
      workers = 1,
      seed = 3,
      isolated = true,
      profile = PlatformProfile.NAMES_LOST)
  static class RepairsOnce extends Log {
    @Override
    void found(Path log) throws Exception {
      Path repair = log.resolveSibling("repair");
      if (Files.exists(repair)) {
        throw new IOException("a repair was interrupted");
      }
      if (Files.exists(log)) {
        Files.createFile(repair);
        try (FileChannel names = FileChannel.open(log.getParent())) {
          names.force(true);
        }
        Files.delete(repair);
      }
    }
  }

  @Test
  void recoveries_in_isolated_jvms_are_recorded_and_crashed_too() throws IOException {
    String message = failed(RepairsOnce.class);
    assertTrue(message.contains("at depth 2"), message);
    assertTrue(message.contains("a repair was interrupted"), message);
    assertTrue(message.contains("IsolatedImagesTest$RepairsOnce.found"), message);
    try (Stream<Path> files = Files.list(kept)) {
      Path file = files.filter(one -> one.toString().endsWith(".zip")).findFirst().orElseThrow();
      System.setProperty(CrashTestSettings.REPLAY, file.toString());
    }
    assertTrue(failed(RepairsOnce.class).contains("a repair was interrupted"));
  }

  /** Needs a system property of the JVM of the test. */
  static class Configured extends Log {
    private static final String PROPERTY = "isolated.images.test";

    @Override
    void found(Path log) {
      if (System.getProperty(PROPERTY) == null) {
        throw new IllegalStateException("the store is not configured");
      }
    }
  }

  @Test
  void a_jvm_is_configured_and_is_replaced_after_its_number_of_images() throws IOException {
    System.setProperty(Configured.PROPERTY, "a value");
    PromiseLog nothing = new PromiseLog();
    try (Workers workers =
            Workers.inMemory(Configured.class, List.of(), Duration.ofMinutes(1), /* images= */ 2);
        ImageChecker checker = workers.get()) {
      for (int i = 0; i < 3; i++) {
        assertEquals(Verdict.SURVIVED, checker.glance(new DiskImage(), nothing, i + 1).verdict());
      }
      assertEquals(2, workers.started());
    }
  }

  @CrashTest(imagesPerJvm = 3)
  static class Fewer extends Log {}

  @CrashTest(isolated = true, imagesPerJvm = 0)
  static class None extends Log {}

  @CrashTest(isolated = true, imagesPerJvm = 3, jvmFlags = "-Xmx64m")
  static class Settings extends Log {}

  private static CrashTestSettings settings(Class<?> type) {
    return CrashTestSettings.of(type.getAnnotation(CrashTest.class));
  }

  @Test
  void settings_of_other_jvms_need_other_jvms() {
    assertThrows(IllegalArgumentException.class, () -> settings(Fewer.class));
    assertThrows(IllegalArgumentException.class, () -> settings(None.class));
    assertEquals(3, settings(Settings.class).imagesPerJvm());
    assertEquals(List.of("-Xmx64m"), settings(Settings.class).jvmFlags());
  }
}
