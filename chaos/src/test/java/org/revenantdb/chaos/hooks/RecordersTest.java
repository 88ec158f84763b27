package org.revenantdb.chaos.hooks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.testing.Drawn;

/** The same lives, recorded by native hooks and by the agent: the traces are the same. */
@Tag("slow")
class RecordersTest {

  /** A build runs one of so many tests here. */
  private static final int TESTS = 6;

  @TempDir private Path scratch;

  static boolean canHook() {
    return AnyRecorder.missingHooks().isEmpty();
  }

  private AnyRun run(Class<?> subject, Recorders by) {
    return new AnyRun(subject, 7, 1, Duration.ofMinutes(10), List.of(), scratch).by(by);
  }

  private Recording record(Class<?> subject, Recorders by) throws IOException {
    try (AnyRun run = run(subject, by)) {
      return run.recording();
    }
  }

  /** The operations as texts, without times and places. */
  private static List<String> texts(Recording recording) {
    List<Operation> operations = merged(recording.trace().operations());
    List<String> texts = new ArrayList<>();
    for (Operation operation : operations) {
      texts.add(
          text(operation, operations)
              + " by "
              + operation.origin().thread()
              + " at "
              + operation.origin().stack().frames().getFirst());
    }
    return texts;
  }

  private static String text(Operation operation, List<Operation> all) {
    return switch (operation) {
      case Operation.Create(_, int node, boolean directory, int parent, String name) ->
          "create %d %s %d/%s".formatted(node, directory, parent, name);
      case Operation.Link(_, int node, int parent, String name) ->
          "link %d %d/%s".formatted(node, parent, name);
      case Operation.Delete(_, int node, int parent, String name) ->
          "delete %d %d/%s".formatted(node, parent, name);
      case Operation.Rename(_, int node, int from, String name, int to, String now, int replaced) ->
          "rename %d %d/%s %d/%s replacing %d".formatted(node, from, name, to, now, replaced);
      case Operation.Write(_, int node, long offset, byte[] data) ->
          "write %d %d+%d #%d".formatted(node, offset, data.length, Arrays.hashCode(data));
      case Operation.Truncate(_, int node, long size) -> "truncate %d %d".formatted(node, size);
      case Operation.Force(_, int node, long since, boolean metadata, long only) ->
          "force %d since %d, metadata %s, only %d"
              .formatted(
                  node,
                  all.stream().filter(one -> one.seq() < since).count(),
                  metadata,
                  all.stream().filter(one -> one.seq() < only).count());
      case Operation.ForceFailed(_, int node, _) -> "failed force " + node;
    };
  }

  /** The C library writes long arrays in pieces; the agent sees one write. */
  private static List<Operation> merged(List<Operation> operations) {
    List<Operation> merged = new ArrayList<>();
    for (Operation operation : operations) {
      if (operation instanceof Operation.Write next
          && !merged.isEmpty()
          && merged.getLast() instanceof Operation.Write last
          && last.node() == next.node()
          && last.offset() + last.data().length == next.offset()
          && last.origin().stack().equals(next.origin().stack())) {
        byte[] all = Arrays.copyOf(last.data(), last.data().length + next.data().length);
        System.arraycopy(next.data(), 0, all, last.data().length, next.data().length);
        merged.set(
            merged.size() - 1, new Operation.Write(last.origin(), last.node(), last.offset(), all));
      } else {
        merged.add(operation);
      }
    }
    return merged;
  }

  private void assertSame(Class<?> subject, int least) throws IOException {
    Recording hooks = record(subject, Recorders.HOOKS);
    Recording agent = record(subject, Recorders.AGENT);
    assertTrue(hooks.usable(), hooks.reason());
    assertTrue(agent.usable(), agent.reason());
    List<String> expected = texts(hooks);
    List<String> found = texts(agent);
    for (int i = 0; i < Math.min(expected.size(), found.size()); i++) {
      assertEquals(expected.get(i), found.get(i), "operation " + i);
    }
    assertEquals(expected.size(), found.size(), "operations");
    assertTrue(found.size() >= least, "only " + found.size() + " operations");
  }

  @Test
  @EnabledIf("canHook")
  @Drawn(oneIn = TESTS)
  void every_way_of_the_jdk_is_recorded_alike() throws IOException {
    assertSame(AnyFilesTest.EveryWay.class, 300);
  }

  /** Streams, random access and {@code File}. */
  public static final class OldWays extends AnyFilesTest.Replaced {

    @Override
    void put(Path dir, int value) throws Exception {
      File directory = new File(dir.toString(), "old" + value);
      assertTrue(new File(directory, "deep/er").mkdirs());
      assertFalse(directory.mkdir());
      File file = new File(directory, "deep/../file");
      assertTrue(file.createNewFile());
      assertFalse(file.createNewFile());
      try (FileOutputStream out = new FileOutputStream(file)) {
        out.write(value);
        out.write(new byte[300_000]);
        out.write("tail".getBytes(UTF_8), 1, 2);
        out.getChannel().position(7);
        out.write(new byte[] {1, 2, 3});
        out.getFD().sync();
      }
      try (FileOutputStream out = new FileOutputStream(file, /* append= */ true)) {
        out.write(new byte[20_000]);
        out.getChannel().write(ByteBuffer.wrap(new byte[11]));
        out.getChannel().force(true);
      }
      try (RandomAccessFile random = new RandomAccessFile(new File(directory, "r"), "rw")) {
        random.seek(5000);
        random.writeLong(value);
        random.writeUTF("some text");
        random.setLength(10_000);
        random.seek(20_000);
        random.write(1);
        random.setLength(3);
        random.write(new byte[0]);
        random.getChannel().write(ByteBuffer.wrap(new byte[4]), 50);
        random.getFD().sync();
      }
      for (String mode : List.of("rws", "rwd")) {
        try (RandomAccessFile random = new RandomAccessFile(new File(directory, mode), mode)) {
          random.write(new byte[100]);
        }
      }
      try (FileInputStream in = new FileInputStream(file);
          RandomAccessFile read = new RandomAccessFile(file, "r")) {
        assertEquals(value & 0xFF, in.read());
        assertEquals(value & 0xFF, read.read());
      }
      new FileOutputStream(new File(directory, "r")).close();
      // The pipe gets the descriptor of a file that was closed.
      Process other = new ProcessBuilder("cat").start();
      try (OutputStream pipe = other.getOutputStream()) {
        pipe.write(new byte[10]);
      }
      assertEquals(0, other.waitFor());
      assertTrue(file.renameTo(new File(directory, "deep/er/file")));
      assertFalse(new File(directory, "nothing").renameTo(new File(directory, "something")));
      assertFalse(new File(directory, "deep").delete());
      assertFalse(new File(directory, "nothing").delete());
      assertTrue(new File(directory, "rws").delete());
      assertTrue(new File(directory, "deep").renameTo(new File(directory, "moved")));
      try (RandomAccessFile random = new RandomAccessFile(directory + "/moved/er/file", "rw")) {
        random.write(9);
      }
      super.put(dir, value);
    }
  }

  @Test
  @EnabledIf("canHook")
  @Drawn(oneIn = TESTS)
  void streams_random_access_and_old_files_are_recorded_alike() throws IOException {
    assertSame(OldWays.class, 300);
  }

  /** Channels and {@code Files}. */
  public static final class NewWays extends AnyFilesTest.Replaced {

    @Override
    void put(Path dir, int value) throws Exception {
      Path directory = dir.resolve("new" + value);
      Files.createDirectories(directory.resolve("a/b"));
      Path one = directory.resolve("one");
      Files.write(one, new byte[50_000]);
      Files.writeString(one, "more", StandardOpenOption.APPEND);
      try (FileChannel channel =
          FileChannel.open(
              one, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.SYNC)) {
        channel.write(ByteBuffer.allocateDirect(9000), 100);
        channel.position(3);
        channel.write(ByteBuffer.wrap(new byte[] {1, 2}));
        channel.write(
            new ByteBuffer[] {
              ByteBuffer.wrap(new byte[5]),
              ByteBuffer.allocateDirect(6),
              ByteBuffer.wrap(new byte[7])
            });
        channel.truncate(60_000);
        channel.truncate(40_000);
        channel.force(false);
      }
      Path two = directory.resolve("a/two");
      try (FileChannel from = FileChannel.open(one);
          FileChannel to =
              FileChannel.open(two, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        assertEquals(30_000, from.transferTo(5000, 30_000, to));
        assertEquals(7000, to.transferFrom(from.position(1000), 2000, 7000));
        to.position(4).write(ByteBuffer.wrap(new byte[] {5}));
        to.transferFrom(Channels.newChannel(new java.io.ByteArrayInputStream(new byte[77])), 9, 77);
      }
      try (FileChannel to = FileChannel.open(two, StandardOpenOption.APPEND);
          FileChannel from = FileChannel.open(one)) {
        to.write(ByteBuffer.wrap(new byte[] {4, 4}));
        to.write(new ByteBuffer[] {ByteBuffer.wrap(new byte[3]), ByteBuffer.wrap(new byte[4])});
        from.transferTo(0, 100, to);
      }
      Files.copy(two, directory.resolve("a/copy"));
      Files.copy(one, directory.resolve("a/copy"), StandardCopyOption.REPLACE_EXISTING);
      Files.copy(directory.resolve("a/b"), directory.resolve("a/c"));
      Files.copy(new java.io.ByteArrayInputStream(new byte[10_000]), directory.resolve("stream"));
      Files.createLink(directory.resolve("a/b/link"), two);
      Files.createLink(directory.resolve("again"), two);
      Files.move(directory.resolve("again"), two); // two names of one file
      Files.move(directory.resolve("a"), directory.resolve("z"));
      Files.move(
          directory.resolve("z/two"),
          directory.resolve("one"),
          StandardCopyOption.REPLACE_EXISTING);
      Files.move(
          directory.resolve("z/copy"), directory.resolve("one"), StandardCopyOption.ATOMIC_MOVE);
      fails(NoSuchFileException.class, () -> Files.delete(directory.resolve("nothing")));
      fails(FileAlreadyExistsException.class, () -> Files.createFile(directory.resolve("one")));
      fails(FileAlreadyExistsException.class, () -> Files.createDirectory(directory));
      assertFalse(Files.deleteIfExists(directory.resolve("nothing")));
      Files.delete(directory.resolve("z/c"));
      secure(directory);
      FileChannel deleted =
          FileChannel.open(
              directory.resolve("short-lived"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE,
              StandardOpenOption.DELETE_ON_CLOSE);
      deleted.write(ByteBuffer.wrap(new byte[3]));
      deleted.close();
      try (FileChannel open =
          FileChannel.open(
              directory.resolve("unnamed"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        Files.delete(directory.resolve("unnamed"));
        open.write(ByteBuffer.wrap(new byte[3]));
        Files.write(directory.resolve("unnamed"), new byte[1]);
        open.write(ByteBuffer.wrap(new byte[3]));
        open.force(true);
      }
      asynchronous(directory.resolve("later"));
      try (FileChannel names = FileChannel.open(directory)) {
        names.force(true);
      }
      super.put(dir, value);
    }

    private static void secure(Path directory) throws IOException {
      try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
        SecureDirectoryStream<Path> secure = (SecureDirectoryStream<Path>) stream;
        try (var channel =
            secure.newByteChannel(
                Path.of("relative"),
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
          channel.write(ByteBuffer.wrap(new byte[8]));
        }
        try (SecureDirectoryStream<Path> deeper = secure.newDirectoryStream(Path.of("z"))) {
          secure.move(Path.of("relative"), deeper, Path.of("moved"));
          deeper.deleteFile(Path.of("moved"));
        }
      }
    }

    private static void asynchronous(Path file) throws Exception {
      try (AsynchronousFileChannel channel =
          AsynchronousFileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.wrap(new byte[12]), 4).get();
        channel.force(true);
        channel.truncate(7);
      }
    }

    private interface Action {
      void run() throws IOException;
    }

    private static void fails(Class<? extends IOException> with, Action action) {
      org.junit.jupiter.api.Assertions.assertThrows(with, action::run);
    }
  }

  @Test
  @EnabledIf("canHook")
  @Drawn(oneIn = TESTS)
  void channels_and_files_are_recorded_alike() throws IOException {
    assertSame(NewWays.class, 500);
  }

  /** Directories that are renamed while they are open, so that names in them count elsewhere. */
  public static final class Renamed extends AnyFilesTest.Replaced {

    @Override
    void put(Path dir, int value) throws Exception {
      Path old = Files.createDirectory(dir.resolve("old" + value));
      Files.write(old.resolve("counter"), new byte[4]);
      try (DirectoryStream<Path> stream = Files.newDirectoryStream(old)) {
        Files.move(old, dir.resolve("moved" + value));
        Files.createDirectory(old);
        Files.write(old.resolve("counter"), new byte[8]);
        SecureDirectoryStream<Path> secure = (SecureDirectoryStream<Path>) stream;
        try (FileChannel channel =
            (FileChannel)
                secure.newByteChannel(Path.of("counter"), Set.of(StandardOpenOption.WRITE))) {
          channel.force(true);
        }
        secure
            .newByteChannel(
                Path.of("new"), Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))
            .close();
      }
      super.put(dir, value);
    }
  }

  @Test
  @EnabledIf("canHook")
  @Drawn(oneIn = TESTS)
  void names_in_a_directory_that_was_renamed_are_recorded_alike() throws IOException {
    assertSame(Renamed.class, 100);
  }

  /** Other names of the directory. */
  public static final class Aliases extends AnyFilesTest.Replaced {

    @Override
    void put(Path dir, int value) throws Exception {
      Path link = dir.resolveSibling(dir.getFileName() + ".alias");
      if (!Files.exists(link)) {
        Files.createSymbolicLink(link, dir);
      }
      String name = "file" + value;
      Files.write(dir.resolve(name), new byte[4]);
      try (FileChannel channel = FileChannel.open(link.resolve(name), StandardOpenOption.WRITE)) {
        channel.force(true);
      }
      try (FileOutputStream out = new FileOutputStream(link.resolve(name).toFile(), true)) {
        out.write(value);
        out.getFD().sync();
      }
      try (DirectoryStream<Path> above = Files.newDirectoryStream(dir.getParent());
          SecureDirectoryStream<Path> secure =
              ((SecureDirectoryStream<Path>) above).newDirectoryStream(dir.getFileName());
          var channel =
              secure.newByteChannel(
                  Path.of("f" + value),
                  Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
        channel.write(ByteBuffer.wrap(new byte[8]));
      }
      super.put(dir, value);
    }
  }

  @Test
  @EnabledIf("canHook")
  @Drawn(oneIn = TESTS)
  void files_below_another_name_of_the_directory_are_recorded_alike() throws IOException {
    assertSame(Aliases.class, 80);
  }

  /** Writes at a position to files that are open for appending, which Linux appends. */
  public static final class AppendsAt extends AnyFilesTest.Replaced {

    @Override
    void put(Path dir, int value) throws Exception {
      Path log = dir.resolve("log");
      try (FileChannel channel =
          FileChannel.open(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
        channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 0);
      }
      try (FileOutputStream out = new FileOutputStream(log.toFile(), /* append= */ true)) {
        out.getChannel().write(ByteBuffer.wrap(new byte[] {4, 5}), 1);
      }
      super.put(dir, value);
    }
  }

  @Test
  @EnabledIf("canHook")
  @Drawn(oneIn = TESTS)
  void writes_at_a_position_to_a_file_for_appending_are_recorded_alike() throws IOException {
    assertSame(AppendsAt.class, 80);
  }

  /** Mapped memory, in both ways that there are, and direct writes. */
  public static final class Memory extends AnyFilesTest.Replaced {

    @Override
    void put(Path dir, int value) throws Exception {
      Path path = dir.resolve("memory");
      try (FileChannel file =
          FileChannel.open(
              path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        MappedByteBuffer buffer = file.map(MapMode.READ_WRITE, 0, 20_000);
        buffer.putInt(5000, value);
        buffer.putInt(17_000, value);
        buffer.force(4096, 4096);
        buffer.force();
        try (Arena arena = Arena.ofShared()) {
          MemorySegment map = file.map(MapMode.READ_WRITE, 24_576, 8192, arena);
          map.set(ValueLayout.JAVA_INT_UNALIGNED, 77, value);
          file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), 24_580);
          file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), 100);
          map.set(ValueLayout.JAVA_INT_UNALIGNED, 4097, value);
          file.force(false);
          map.set(ValueLayout.JAVA_INT_UNALIGNED, 1, value);
        }
        file.map(MapMode.READ_ONLY, 0, 4096).get(0);
        file.map(MapMode.PRIVATE, 0, 4096).put(0, (byte) value);
      }
      try (FileChannel direct =
              FileChannel.open(
                  dir.resolve("direct"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE,
                  direct());
          Arena arena = Arena.ofConfined()) {
        int block = (int) Files.getFileStore(dir).getBlockSize();
        direct.write(
            arena.allocate(2L * block, block).asByteBuffer(),
            (long) block * Math.floorMod(value, 3));
      } catch (UnsupportedOperationException e) {
        // This file system has no direct writes, for either recorder.
      }
      super.put(dir, value);
    }
  }

  /** The option for direct writes, which is in a module that the framework does not require. */
  private static OpenOption direct() throws ReflectiveOperationException {
    return (OpenOption)
        Class.forName("com.sun.nio.file.ExtendedOpenOption").getField("DIRECT").get(null);
  }

  @Test
  @EnabledIf("canHook")
  @Drawn(oneIn = TESTS)
  void mapped_memory_and_direct_writes_are_recorded_alike() throws IOException {
    assertSame(Memory.class, 100);
  }

  @Test
  @EnabledIf("canHook")
  @Drawn(oneIn = TESTS)
  void each_recorder_finds_a_missing_force_and_lets_a_sound_store_survive() throws IOException {
    for (Recorders by : Recorders.values()) {
      assertEquals(Verdict.SURVIVED, crash(AnyFilesTest.Replaced.class, by).verdict(), by.title());
      Verdict lost = crash(AnyFilesTest.WithoutForce.class, by).verdict();
      assertTrue(lost == Verdict.LOST || lost == Verdict.CORRUPT, by + ": " + lost);
      lost = crash(AnyFilesTest.MappedWithoutForce.class, by).verdict();
      assertTrue(lost == Verdict.LOST || lost == Verdict.CORRUPT, by + ": " + lost);
    }
  }

  private Outcome crash(Class<?> subject, Recorders by) throws IOException {
    try (AnyRun run = run(subject, by)) {
      Outcome outcome =
          run.run(
              Crash.POWER_CUT,
              PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, 7).withStates(30).withWorkers(1));
      assertTrue(run.seen().contains("recorded by " + by.title()), run::seen);
      return outcome;
    }
  }

  @Test
  @Drawn(oneIn = TESTS)
  void threads_keep_their_order_with_the_agent() throws IOException {
    Recording recording = record(AnyFilesTest.Threads.class, Recorders.AGENT);
    assertTrue(recording.usable(), recording.reason());
    long threads =
        recording.trace().operations().stream()
            .map(operation -> operation.origin().thread())
            .distinct()
            .count();
    assertTrue(threads >= 4, "threads: " + threads);
  }

  @Test
  @Drawn(oneIn = TESTS)
  void stores_of_a_thread_during_a_look_at_mapped_memory_keep_their_order_with_the_agent()
      throws IOException {
    try (AnyRun run = run(AnyFilesTest.StoresMeanwhile.class, Recorders.AGENT)) {
      Outcome outcome =
          run.run(
              Crash.PROCESS_DEATH,
              PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, 7).withStates(1000).withWorkers(1));
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    }
  }

  @Test
  @Drawn(oneIn = TESTS)
  void a_write_of_a_native_library_is_not_measured_by_the_agent_and_the_file_is_named()
      throws IOException {
    Recording recording = record(AnyFilesTest.Unseen.class, Recorders.AGENT);
    assertEquals(Verdict.NOT_MEASURED, recording.verdict());
    assertTrue(recording.reason().contains("counter"), recording.reason());
  }

  /** Makes a symbolic link, which a trace cannot have. */
  public static final class Links extends AnyFilesTest.Replaced {
    @Override
    void put(Path dir, int value) throws Exception {
      super.put(dir, value);
      Files.createSymbolicLink(dir.resolve("link" + value), dir.resolve("counter"));
    }
  }

  @Test
  @Drawn(oneIn = TESTS)
  void a_symbolic_link_is_not_measured_by_the_agent() throws IOException {
    Recording recording = record(Links.class, Recorders.AGENT);
    assertEquals(Verdict.NOT_MEASURED, recording.verdict());
    assertTrue(recording.reason().contains("symbolic link"), recording.reason());
    assertTrue(recording.reason().contains(Recorders.AGENT.title()), recording.reason());
  }

  @Test
  @Drawn(oneIn = TESTS)
  void the_agent_needs_no_function_of_the_c_library() throws IOException {
    Path logs = Files.createDirectory(scratch.resolve("classes"));
    List<String> flags = List.of("-Xlog:class+load:file=" + logs.resolve("%p"));
    try (AnyRun run =
        new AnyRun(AnyFilesTest.Replaced.class, 7, 1, Duration.ofMinutes(10), flags, scratch)
            .by(Recorders.AGENT)) {
      assertTrue(run.recording().usable(), run.recording().reason());
    }
    int recorded = 0;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(logs)) {
      for (Path log : all) {
        String loaded = Files.readString(log);
        recorded += loaded.contains(AgentFiles.class.getName() + " ") ? 1 : 0;
        for (Class<?> type : List.of(Libc.class, Hooks.class, Slot.class, Mappings.class)) {
          assertFalse(loaded.contains(type.getName() + " "), type + " is loaded");
        }
      }
    }
    assertEquals(2, recorded, "the recorded life and the one that is killed");
  }

  @Test
  void faults_are_not_measured_by_the_agent_and_the_reason_names_the_hooks() throws IOException {
    try (AnyRun run = run(AnyFilesTest.Replaced.class, Recorders.AGENT)) {
      Outcome outcome =
          run.faults(FaultKind.WRITE_FAILS, 1, PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, 7));
      assertEquals(Verdict.NOT_MEASURED, outcome.verdict());
      assertTrue(outcome.reason().contains("native hooks"), outcome.reason());
    }
  }
}
