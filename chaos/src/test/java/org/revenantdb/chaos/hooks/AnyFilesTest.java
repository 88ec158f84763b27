package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/**
 * Stores that use real files by any means: what they do is recorded as it happened, broken ones are
 * found, and what cannot be recorded is never called a success.
 */
@Tag("slow")
@EnabledIf("canHook")
class AnyFilesTest {

  @TempDir private Path scratch;

  static boolean canHook() {
    return AnyRecorder.missingHooks().isEmpty();
  }

  /** Counts up in a file, four bytes for each value, each in its place. */
  abstract static class Counter implements CrashSubject<Path> {

    private static final int VALUES = 12;

    @Override
    public Path open(Path dir) throws IOException {
      return dir;
    }

    /** Stores a value durably. */
    abstract void put(Path dir, int value) throws Exception;

    @Override
    public void work(Path dir, Promises promises) throws Exception {
      for (int i = 0; i < VALUES; i++) {
        int value = (int) (promises.seed() % 1000) * 100 + i + 1;
        promises.attempt("counter", Integer.toString(value));
        put(dir, value);
        promises.durable("counter", Integer.toString(value));
      }
    }

    File file(Path dir) {
      return new File(dir.toString(), "counter");
    }

    @Nullable String get(Path dir) throws IOException {
      File file = file(dir);
      if (!file.exists() || file.length() < 4) {
        return null;
      }
      try (RandomAccessFile in = new RandomAccessFile(file, "r")) {
        int value = in.readInt();
        return value == 0 ? null : Integer.toString(value);
      }
    }

    @Override
    public void check(Path dir, Recovered recovered) throws Exception {
      String value = get(dir);
      recovered.verify(key -> value);
    }
  }

  private Recording record(Class<?> subject) throws IOException {
    try (AnyRun run = run(subject)) {
      return run.recording();
    }
  }

  private AnyRun run(Class<?> subject) {
    return run(subject, /* lives= */ 1);
  }

  private AnyRun run(Class<?> subject, int lives) {
    return new AnyRun(subject, 7, lives, Duration.ofMinutes(10), List.of(), scratch);
  }

  private Outcome crash(Class<?> subject, Crash crash, PlatformProfile profile) throws IOException {
    return crash(subject, crash, profile, 30);
  }

  private Outcome crash(Class<?> subject, Crash crash, PlatformProfile profile, int states)
      throws IOException {
    try (AnyRun run = run(subject)) {
      Outcome outcome =
          run.run(crash, PowerCutOptions.of(profile, 7).withStates(states).withWorkers(1));
      outcome.failures().forEach(failure -> System.out.println(failure.title()));
      return outcome;
    }
  }

  private static void assertUsable(Recording recording) {
    assertTrue(recording.usable(), recording.reason());
  }

  /** Uses every way that the JDK has to change files. */
  public static final class EveryWay extends Counter {

    @Override
    void put(Path dir, int value) throws Exception {
      File directory = new File(dir.toString(), "sub" + value);
      assertTrue(directory.mkdir());
      File one = new File(directory, "one");
      try (RandomAccessFile file = new RandomAccessFile(one, "rw")) {
        file.write(new byte[9000]);
        file.seek(100);
        file.writeInt(value);
        file.setLength(20_000);
        file.setLength(5000);
        file.getFD().sync();
      }
      try (FileOutputStream out = new FileOutputStream(one, true)) {
        out.write(new byte[] {1, 2, 3});
      }
      try (FileOutputStream out = new FileOutputStream(new File(directory, "cut"))) {
        out.write(value);
      }
      new FileOutputStream(new File(directory, "cut")).close();
      Path two = directory.toPath().resolve("two");
      try (FileChannel file =
          FileChannel.open(
              two, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        file.write(ByteBuffer.allocateDirect(6000), 3);
        file.write(new ByteBuffer[] {ByteBuffer.wrap(new byte[] {5, 6}), ByteBuffer.allocate(9)});
        file.force(false);
        file.truncate(5500);
        try (Arena arena = Arena.ofShared()) {
          MemorySegment map = file.map(MapMode.READ_WRITE, 4096, 8192, arena);
          map.set(ValueLayout.JAVA_BYTE, 5000, (byte) value);
          file.write(ByteBuffer.wrap(new byte[] {7}), 4100);
          map.set(ValueLayout.JAVA_BYTE, 1, (byte) 9);
          map.asSlice(0, 4096).force();
          map.set(ValueLayout.JAVA_BYTE, 2, (byte) 9);
        }
        try (FileChannel copy =
            FileChannel.open(
                directory.toPath().resolve("copy"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE)) {
          file.transferTo(0, 5000, copy);
        }
      }
      Files.createLink(directory.toPath().resolve("link"), two);
      Files.copy(two, directory.toPath().resolve("copy2"));
      assertTrue(one.renameTo(new File(dir.toString(), "moved")));
      Files.move(two, directory.toPath().resolve("copy"), StandardCopyOption.ATOMIC_MOVE);
      assertTrue(new File(directory, "cut").delete());
      try (FileChannel names = FileChannel.open(directory.toPath())) {
        names.force(true);
      }
      try (FileChannel sync =
          FileChannel.open(
              file(dir).toPath(),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE,
              StandardOpenOption.DSYNC)) {
        sync.write(ByteBuffer.allocate(4).putInt(value).flip(), 0);
      }
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void everyWayOfTheJdk_isRecordedAsItHappened() throws IOException {
    Recording recording = record(EveryWay.class);
    assertUsable(recording);
    Set<String> kinds =
        recording.trace().operations().stream()
            .map(operation -> operation.getClass().getSimpleName())
            .collect(Collectors.toSet());
    assertEquals(Set.of("Create", "Link", "Delete", "Rename", "Write", "Truncate", "Force"), kinds);
    assertTrue(
        recording.trace().operations().stream()
            .allMatch(operation ->
                operation.origin().stack().frames().stream()
                    .anyMatch(frame -> frame.getMethodName().equals("put"))),
        "every operation has the stack of the program");
  }

  /**
   * Uses files by a directory stream. The JDK looks its functions ({@code openat}, {@code
   * renameat}) up when it starts, before there are hooks, and keeps their addresses in variables of
   * its own.
   */
  public static final class ByDirectoryStream extends Counter {

    @Override
    void put(Path dir, int value) throws Exception {
      try (DirectoryStream<Path> stream = Files.newDirectoryStream(dir)) {
        var names = (SecureDirectoryStream<Path>) stream;
        Path next = Path.of("next");
        try (SeekableByteChannel file =
            names.newByteChannel(
                next, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE))) {
          file.write(ByteBuffer.allocate(4).putInt(value).flip());
          ((FileChannel) file).force(true);
        }
        names.move(next, names, Path.of("counter"));
      }
    }
  }

  @Test
  void a_function_pointer_that_was_copied_before_there_were_hooks_is_changed_too()
      throws IOException {
    Recording recording = record(ByDirectoryStream.class);
    assertUsable(recording); // otherwise the control sees files that the trace does not have
    Map<String, Long> kinds =
        recording.trace().operations().stream()
            .collect(
                Collectors.groupingBy(
                    operation -> operation.getClass().getSimpleName(), Collectors.counting()));
    for (String kind : List.of("Create", "Write", "Force", "Rename")) {
      assertEquals(Counter.VALUES, kinds.get(kind), kinds::toString);
    }
  }

  /** A correct counter: written beside, forced, renamed, and its name forced. */
  public static class Replaced extends Counter {

    void forceFile(RandomAccessFile file) throws IOException {
      file.getFD().sync();
    }

    void forceNames(Path dir) throws IOException {
      try (FileChannel names = FileChannel.open(dir)) {
        names.force(true);
      }
    }

    @Override
    void put(Path dir, int value) throws Exception {
      File next = new File(dir.toString(), "next");
      try (RandomAccessFile file = new RandomAccessFile(next, "rw")) {
        file.writeInt(value);
        forceFile(file);
      }
      if (!next.renameTo(file(dir))) {
        throw new IOException("cannot rename " + next);
      }
      forceNames(dir);
    }
  }

  /** As {@link Replaced}, without the force of the file. */
  public static final class WithoutForce extends Replaced {
    @Override
    void forceFile(RandomAccessFile file) {}
  }

  /** As {@link Replaced}, without the force of the directory. */
  public static final class WithoutNames extends Replaced {
    @Override
    void forceNames(Path dir) {}
  }

  @Test
  @Drawn(oneIn = 2)
  void correctStore_survivesPowerCutsAndDeaths() throws IOException {
    try (AnyRun run = run(Replaced.class, /* lives= */ 2)) {
      assertTrue(run.recording().usable(), run.recording().reason());
      assertTrue(run.controls() > 12, "equal at " + run.controls() + " moments");
      for (PlatformProfile profile :
          List.of(PlatformProfile.STRICT_POSIX, PlatformProfile.NAMES_LOST)) {
        Outcome outcome =
            run.run(Crash.POWER_CUT, PowerCutOptions.of(profile, 7).withStates(30).withWorkers(1));
        assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> outcome.failures().toString());
      }
      Outcome deaths =
          run.run(
              Crash.PROCESS_DEATH,
              PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, 7).withStates(30).withWorkers(1));
      assertEquals(Verdict.SURVIVED, deaths.verdict(), () -> deaths.failures().toString());
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void missingForceOfAFile_isFound() throws IOException {
    Outcome outcome = crash(WithoutForce.class, Crash.POWER_CUT, PlatformProfile.EXT4_ORDERED);
    assertTrue(isFound(outcome), outcome.toString());
    String story = outcome.failures().getFirst().story();
    assertTrue(story.contains("Replaced.put"), story);
    assertTrue(story.matches("(?s).*the last promise before it, at .*Replaced.work\\(.*"), story);
  }

  @Test
  @Drawn(oneIn = 2)
  void missingForceOfADirectory_isFound() throws IOException {
    Outcome outcome = crash(WithoutNames.class, Crash.POWER_CUT, PlatformProfile.NAMES_LOST);
    assertTrue(isFound(outcome), outcome.toString());
  }

  private static boolean isFound(Outcome outcome) {
    return outcome.verdict() == Verdict.LOST || outcome.verdict() == Verdict.CORRUPT;
  }

  /** Needs a system property of the JVM of the test. */
  public static final class Configured extends Replaced {
    static final String PROPERTY = "org.revenantdb.chaos.test.recorded";

    @Override
    public Path open(Path dir) throws IOException {
      if (System.getProperty(PROPERTY) == null) {
        throw new IOException("not configured");
      }
      return super.open(dir);
    }
  }

  /** A property that said "no forces" was not there, and the store was called durable. */
  @Test
  @Drawn(oneIn = 2)
  void recorded_lives_and_their_images_have_the_system_properties_of_the_test() throws IOException {
    System.setProperty(Configured.PROPERTY, "");
    try {
      Outcome outcome =
          crash(Configured.class, Crash.PROCESS_DEATH, PlatformProfile.EXT4_ORDERED, 3);
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    } finally {
      System.clearProperty(Configured.PROPERTY);
    }
  }

  /** Writes in place in two steps, so that a death between them leaves neither value. */
  public static final class InPlace extends Counter {
    @Override
    void put(Path dir, int value) throws Exception {
      try (RandomAccessFile file = new RandomAccessFile(file(dir), "rw")) {
        file.setLength(0);
        file.writeInt(value);
      }
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void deathBetweenTwoOperations_isFoundInEveryCase() throws IOException {
    Outcome outcome = crash(InPlace.class, Crash.PROCESS_DEATH, PlatformProfile.EXT4_ORDERED);
    assertTrue(isFound(outcome), outcome.toString());
  }

  /** Stores into mapped memory. */
  public static class Mapped extends Counter {

    void force(MemorySegment map) {
      map.force();
    }

    @Override
    void put(Path dir, int value) throws Exception {
      try (RandomAccessFile file = new RandomAccessFile(file(dir), "rw");
          Arena arena = Arena.ofShared()) {
        if (file.length() < 8192) {
          file.setLength(8192);
          file.getFD().sync();
          try (FileChannel names = FileChannel.open(dir)) {
            names.force(true);
          }
        }
        MemorySegment map = file.getChannel().map(MapMode.READ_WRITE, 0, 8192, arena);
        map.set(JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 0, value);
        force(map);
      }
    }
  }

  /** As {@link Mapped}, without a force. */
  public static final class MappedWithoutForce extends Mapped {
    @Override
    void force(MemorySegment map) {}
  }

  @Test
  @Drawn(oneIn = 4)
  void mappedStore_isRecordedAndJudged() throws IOException {
    Outcome right = crash(Mapped.class, Crash.POWER_CUT, PlatformProfile.STRICT_POSIX);
    assertEquals(Verdict.SURVIVED, right.verdict(), right::toString);
    Outcome wrong = crash(MappedWithoutForce.class, Crash.POWER_CUT, PlatformProfile.EXT4_ORDERED);
    assertTrue(isFound(wrong), wrong.toString());
  }

  /** Stores into the second page, then into the first one, which counts only behind the second. */
  public static class StoresInOrder extends Counter {
    private static final ValueLayout.OfInt VALUE = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    @Override
    void put(Path dir, int value) throws Exception {
      try (RandomAccessFile file = new RandomAccessFile(file(dir), "rw");
          Arena arena = Arena.ofShared()) {
        file.setLength(8192);
        MemorySegment map = file.getChannel().map(MapMode.READ_WRITE, 0, 8192, arena);
        map.set(VALUE, 4096, value);
        VALUE.varHandle().setRelease(map, 0L, value);
        map.force();
      }
    }

    @Override
    public void check(Path dir, Recovered recovered) throws Exception {
      super.check(dir, recovered);
      assertOrdered(file(dir), 4096, 0);
    }

    /** What was stored at {@code first} is at least what was stored at {@code second} after it. */
    static void assertOrdered(File file, long first, long second) throws IOException {
      if (file.length() == 8192) {
        try (RandomAccessFile in = new RandomAccessFile(file, "r")) {
          in.seek(second);
          int later = in.readInt();
          in.seek(first);
          assertTrue(later <= in.readInt(), "a later store without an earlier one");
        }
      }
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void a_death_keeps_the_stores_into_mapped_memory_in_the_order_of_the_program()
      throws IOException {
    Outcome outcome =
        crash(StoresInOrder.class, Crash.PROCESS_DEATH, PlatformProfile.EXT4_ORDERED, 1000);
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    Outcome cut = crash(StoresInOrder.class, Crash.POWER_CUT, PlatformProfile.EXT4_ORDERED, 100);
    assertTrue(isFound(cut), cut.toString());
  }

  /** A thread stores all the time, first into the first page, which is also compared first. */
  public static final class StoresMeanwhile extends Replaced {
    private static final ValueLayout.OfInt VALUE = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    @Override
    public void work(Path dir, Promises promises) throws Exception {
      try (RandomAccessFile file = new RandomAccessFile(new File(dir.toFile(), "stores"), "rw");
          Arena arena = Arena.ofShared()) {
        file.setLength(8192);
        MemorySegment map = file.getChannel().map(MapMode.READ_WRITE, 0, 8192, arena);
        AtomicBoolean done = new AtomicBoolean();
        Thread other =
            Thread.ofPlatform()
                .start(() -> {
                  for (int i = 1; !done.get(); i++) {
                    VALUE.varHandle().setRelease(map, 0L, i);
                    VALUE.varHandle().setRelease(map, 4096L, i);
                    Thread.yield();
                  }
                });
        super.work(dir, promises);
        done.set(true);
        other.join();
      }
    }

    @Override
    public void check(Path dir, Recovered recovered) throws Exception {
      super.check(dir, recovered);
      StoresInOrder.assertOrdered(new File(dir.toFile(), "stores"), 0, 4096);
    }
  }

  @Test
  void stores_of_a_thread_during_a_look_at_mapped_memory_keep_their_order() throws IOException {
    Outcome outcome =
        crash(StoresMeanwhile.class, Crash.PROCESS_DEATH, PlatformProfile.EXT4_ORDERED, 1000);
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    assertTrue(outcome.states() >= 12, outcome::toString); // at least one for each promise
  }

  /** Writes by a system call of its own, which no hook sees. */
  public static final class Unseen extends Counter {

    @Override
    @SuppressWarnings("restricted") // the forked JVM has native access
    void put(Path dir, int value) throws Exception {
      writeUnseen(file(dir), value);
    }

    @SuppressWarnings("restricted") // the forked JVM has native access
    static void writeUnseen(File file, int value) throws IOException {
      String name = file.toString();
      try (Arena arena = Arena.ofConfined()) {
        var syscall =
            Linker.nativeLinker()
                .downcallHandle(
                    Linker.nativeLinker().defaultLookup().find("syscall").orElseThrow(),
                    FunctionDescriptor.of(
                        JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        long fd =
            (long)
                syscall.invokeExact(
                    arm ? 56L : 257L, -100L, arena.allocateFrom(name), 0101L, 0600L); // openat
        MemorySegment bytes = arena.allocate(4);
        bytes.set(JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 0, value);
        var _ = (long) syscall.invokeExact(arm ? 64L : 1L, fd, bytes, 4L, 0L); // write
        var _ = (long) syscall.invokeExact(arm ? 57L : 3L, fd, MemorySegment.NULL, 0L, 0L);
      } catch (Throwable e) {
        throw new IOException(e);
      }
    }
  }

  @Test
  void writeThatNoHookSees_isNotMeasured_andTheFileIsNamed() throws IOException {
    Recording recording = record(Unseen.class);
    assertEquals(Verdict.NOT_MEASURED, recording.verdict());
    assertTrue(recording.reason().contains("counter"), recording.reason());
    assertTrue(recording.reason().contains("not what happened"), recording.reason());
  }

  /** Does something unseen only in the life that is killed for the control. */
  public static final class UnseenWhenKilled extends Replaced {
    @Override
    public Path open(Path dir) throws IOException {
      if (dir.toString().contains("killed")) {
        Unseen.writeUnseen(new File(dir.toString(), "beside"), 1);
      }
      return super.open(dir);
    }
  }

  @Test
  void a_difference_that_only_the_control_behind_a_kill_sees_is_not_measured() throws IOException {
    Recording recording = record(UnseenWhenKilled.class);
    assertEquals(Verdict.NOT_MEASURED, recording.verdict(), recording::reason);
    assertTrue(
        recording.reason().matches("(?s)after a kill at operation \\d+, .*beside.*"),
        recording.reason());
    assertTrue(recording.seen().counts().get("operations") > 0, recording.seen()::text);
  }

  /** Writes through the C library's streams, whose buffers no hook sees. */
  public static final class Streams extends Counter {

    @Override
    @SuppressWarnings("restricted") // the forked JVM has native access
    void put(Path dir, int value) throws Exception {
      Linker linker = Linker.nativeLinker();
      try (Arena arena = Arena.ofConfined()) {
        var open =
            linker.downcallHandle(
                linker.defaultLookup().find("fopen").orElseThrow(),
                FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));
        var close =
            linker.downcallHandle(
                linker.defaultLookup().find("fclose").orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, ADDRESS));
        MemorySegment stream =
            (MemorySegment)
                open.invokeExact(arena.allocateFrom(file(dir).toString()), arena.allocateFrom("w"));
        var _ = (int) close.invokeExact(stream);
        Files.write(file(dir).toPath(), ByteBuffer.allocate(4).putInt(value).array());
      } catch (Throwable e) {
        throw new IOException(e);
      }
    }
  }

  @Test
  void functionsThatWereLookedUp_areHookedToo_andStreamsAreNotMeasured() throws IOException {
    Recording recording = record(Streams.class);
    assertEquals(Verdict.NOT_MEASURED, recording.verdict());
    assertTrue(recording.reason().contains("fopen"), recording.reason());
  }

  /** Works in few openings of one JVM, because of a static field. */
  public static final class Forgetful extends Replaced {

    private static int opened;

    @Override
    public Path open(Path dir) throws IOException {
      if (++opened > 8) {
        throw new IOException("opened too often in this process");
      }
      return super.open(dir);
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void stateOfAJvm_isNotTakenForAStateOfTheDisk() throws IOException {
    Outcome outcome = crash(Forgetful.class, Crash.PROCESS_DEATH, PlatformProfile.EXT4_ORDERED, 20);
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }

  /** Ends its process when it finds what a crash left. */
  public static final class Exits extends Replaced {
    @Override
    public Path open(Path dir) throws IOException {
      if (new File(dir.toString(), "next").exists()) {
        Runtime.getRuntime().halt(9);
      }
      return super.open(dir);
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void processThatEndsInACheck_isAFinding() throws IOException {
    Outcome outcome = crash(Exits.class, Crash.PROCESS_DEATH, PlatformProfile.EXT4_ORDERED, 6);
    assertEquals(Verdict.CORRUPT, outcome.verdict(), outcome::toString);
    assertTrue(
        outcome.failures().getFirst().title().contains("exit code 9"),
        outcome.failures().getFirst().title());
  }

  @Test
  @Drawn(oneIn = 2)
  void severalThreads_keepTheirOrder() throws IOException {
    Recording recording = record(Threads.class);
    assertUsable(recording);
    long threads =
        recording.trace().operations().stream()
            .map(operation -> operation.origin().thread())
            .distinct()
            .count();
    assertTrue(threads >= 4, "threads: " + threads);
  }

  /** Four threads write and force the same file. */
  public static final class Threads extends Replaced {
    @Override
    void put(Path dir, int value) throws Exception {
      try (RandomAccessFile file = new RandomAccessFile(new File(dir.toString(), "all"), "rw")) {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
          int me = i;
          threads[i] =
              Thread.ofPlatform()
                  .name("writer " + i)
                  .start(() -> write(file.getChannel(), me, value));
        }
        for (Thread thread : threads) {
          thread.join();
        }
      }
      super.put(dir, value);
    }

    private static void write(FileChannel file, int me, int value) {
      try {
        for (int i = 0; i < 20; i++) {
          byte[] bytes = ("writer " + me + " at " + value + "." + i).getBytes(UTF_8);
          file.write(ByteBuffer.wrap(bytes), 5L * i);
          if (i % 7 == me) {
            file.force(false);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
