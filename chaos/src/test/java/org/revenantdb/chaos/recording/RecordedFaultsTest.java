package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.fault.DiskSpace;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FaultPlan;
import org.revenantdb.chaos.fault.FaultRule;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/** Each fault has its effect on the file, on the program and on the trace. */
class RecordedFaultsTest {

  private static final String BEFORE = "0123456789";

  @TempDir Path temp;
  private Path below;

  @BeforeEach
  void prepare() throws IOException {
    below = Files.writeString(temp.resolve("f"), BEFORE);
  }

  @AfterEach
  void notInterrupted() {
    assertFalse(Thread.interrupted());
  }

  private RecordingFileSystem recording(FaultInjector faults) throws IOException {
    return RecordingFileSystem.over(temp).faults(faults).start();
  }

  /** One fault at the first operation of a kind. */
  private RecordingFileSystem recording(Fault fault, Kind kind) throws IOException {
    return recording(FaultPlan.of(FaultRule.of(fault).kinds(kind).nth(1)));
  }

  private static FileChannel open(RecordingFileSystem recording) throws IOException {
    return FileChannel.open(
        recording.directory().resolve("f"), StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  private void assertHolds(String expected, RecordingFileSystem recording) throws IOException {
    assertEquals(expected, Files.readString(below));
    Replay.assertExact(recording.trace(), temp);
  }

  private static <T extends Operation> List<T> all(Trace trace, Class<T> type) {
    return trace.operations().stream().filter(type::isInstance).map(type::cast).toList();
  }

  // Reported to the program

  @Test
  void fail_changesNothing_andOccursOnce() throws IOException {
    for (Kind kind : List.of(Kind.WRITE, Kind.READ, Kind.TRUNCATE, Kind.FORCE)) {
      RecordingFileSystem recording = recording(new Fault.Fail("planted"), kind);
      try (FileChannel channel = open(recording)) {
        ByteBuffer buffer = bytes("abc");
        IOException failure =
            assertThrows(
                IOException.class,
                () -> {
                  switch (kind) {
                    case WRITE -> channel.write(buffer);
                    case READ -> channel.read(buffer);
                    case TRUNCATE -> channel.truncate(3);
                    default -> channel.force(true);
                  }
                });
        assertEquals("planted", failure.getMessage());
        assertEquals(0, buffer.position());
        assertEquals(0, channel.position());
        assertTrue(channel.isOpen());
        assertEquals(List.of(), recording.trace().operations());
        assertHolds(BEFORE, recording);
        channel.write(bytes("abc"));
        channel.force(false);
        assertHolds("abc3456789", recording);
      }
      Files.writeString(below, BEFORE);
    }
  }

  @Test
  void fail_ofNames_changesNoName() throws IOException {
    RecordingFileSystem recording =
        recording(
            FaultPlan.of(
                FaultRule.of(new Fault.Fail("planted"))
                    .kinds(Kind.OPEN, Kind.CREATE, Kind.RENAME, Kind.DELETE)
                    .between(1, 5)));
    Path directory = recording.directory();
    Path file = directory.resolve("f");
    assertThrows(IOException.class, () -> Files.createDirectory(directory.resolve("d")));
    assertThrows(IOException.class, () -> Files.move(file, directory.resolve("g")));
    assertThrows(IOException.class, () -> Files.delete(file));
    assertThrows(IOException.class, () -> FileChannel.open(file));
    assertThrows(IOException.class, () -> Files.copy(file, directory.resolve("g")));
    assertEquals(List.of(), recording.trace().operations());
    assertHolds(BEFORE, recording);
    Files.move(file, directory.resolve("g"));
    assertTrue(Files.exists(temp.resolve("g")));
  }

  @Test
  void diskFull_throwsTheExceptionsOfTheJdk() throws IOException {
    RecordingFileSystem recording =
        recording(FaultPlan.of(FaultRule.of(new Fault.DiskFull()).kinds(Kind.WRITE, Kind.CREATE)));
    try (FileChannel channel = open(recording)) {
      IOException failure = assertThrows(IOException.class, () -> channel.write(bytes("abc"), 10));
      assertEquals("No space left on device", failure.getMessage());
    }
    FileSystemException failure =
        assertThrows(
            FileSystemException.class,
            () -> Files.createFile(recording.directory().resolve("new")));
    assertEquals("No space left on device", failure.getReason());
    assertHolds(BEFORE, recording);
  }

  @Test
  void diskSpace_countsGrowth_andCanBeFreed() throws IOException {
    DiskSpace disk = new DiskSpace(10);
    RecordingFileSystem recording = recording(disk);
    try (FileChannel channel = open(recording)) {
      assertEquals(10, channel.write(bytes("abcdefghij"), 0));
      assertEquals(4, channel.write(bytes("klmn"), 10));
      assertEquals(6, channel.write(bytes("opqrstuv"), 14));
      assertThrows(IOException.class, () -> channel.write(bytes("uv"), 20));
      disk.free();
      assertEquals(2, channel.write(bytes("uv"), 20));
    }
    assertHolds("abcdefghijklmnopqrstuv", recording);
  }

  @Test
  void shortWrite_returnsItsLength_forEveryFormOfWrite() throws IOException {
    RecordingFileSystem recording =
        recording(FaultPlan.of(FaultRule.of(new Fault.ShortWrite(3)).kinds(Kind.WRITE)));
    try (FileChannel channel = open(recording)) {
      ByteBuffer relative = bytes("abcde");
      assertEquals(3, channel.write(relative));
      assertEquals(3, relative.position());
      assertEquals(3, channel.position());
      ByteBuffer positional = bytes("fghij");
      assertEquals(3, channel.write(positional, 5));
      assertEquals(3, positional.position());
      assertEquals(3, channel.position());
      ByteBuffer[] gathered = {bytes("kl"), bytes("mn"), bytes("op")};
      assertEquals(3, channel.write(gathered));
      assertEquals(List.of(2, 1, 0), Arrays.stream(gathered).map(ByteBuffer::position).toList());
      assertEquals(6, channel.position());
    }
    assertHolds("abcklmgh89", recording);
    assertEquals(3, recording.counted().writes());
    assertEquals(9, recording.counted().bytesWritten());
  }

  @Test
  void shortWrites_underAStream_loseNothing() throws IOException {
    RecordingFileSystem recording =
        recording(FaultPlan.of(FaultRule.of(new Fault.ShortWrite(3)).kinds(Kind.WRITE)));
    Files.writeString(recording.directory().resolve("f"), "abcdefghij");
    assertHolds("abcdefghij", recording);
  }

  @Test
  void failForce_dirty_leavesEverythingToTheNextForce() throws IOException {
    RecordingFileSystem recording = recording(new Fault.FailForce(false), Kind.FORCE);
    try (FileChannel channel = open(recording)) {
      channel.write(bytes("abc"));
      assertThrows(IOException.class, () -> channel.force(true));
      assertEquals(1, recording.trace().operations().size());
      channel.force(true);
    }
    assertEquals(1, all(recording.trace(), Operation.Force.class).size());
    assertEquals(0, all(recording.trace(), Operation.ForceFailed.class).size());
  }

  @Test
  void failForce_clean_isInTheTrace() throws IOException {
    RecordingFileSystem recording = recording(new Fault.FailForce(true), Kind.FORCE);
    try (FileChannel channel = open(recording)) {
      channel.write(bytes("abc"));
      assertThrows(IOException.class, () -> channel.force(true));
      channel.force(true);
    }
    Operation.ForceFailed failed = all(recording.trace(), Operation.ForceFailed.class).getFirst();
    Operation.Write write = all(recording.trace(), Operation.Write.class).getFirst();
    assertTrue(write.seq() < failed.since());
    assertTrue(failed.seq() < all(recording.trace(), Operation.Force.class).getFirst().since());
  }

  @Test
  void failForce_ofADirectory_fails() throws IOException {
    RecordingFileSystem recording = recording(new Fault.FailForce(true), Kind.FORCE);
    try (FileChannel channel = FileChannel.open(recording.directory())) {
      assertThrows(IOException.class, () -> channel.force(true));
      channel.force(true);
    }
    assertEquals(0, all(recording.trace(), Operation.ForceFailed.class).getFirst().node());
  }

  @Test
  void error_isThrownBeforeAnythingChanged() throws IOException {
    RecordingFileSystem memory = recording(new Fault.Throw(true), Kind.WRITE);
    try (FileChannel channel = open(memory)) {
      assertThrows(OutOfMemoryError.class, () -> channel.write(bytes("abc")));
      channel.write(bytes("x"), 9);
    }
    assertHolds("012345678x", memory);
    RecordingFileSystem stack = recording(new Fault.Throw(false), Kind.RENAME);
    Path file = stack.directory().resolve("f");
    assertThrows(StackOverflowError.class, () -> Files.move(file, file.resolveSibling("g")));
    assertHolds("012345678x", stack);
  }

  @Test
  void interrupt_closesTheChannelForAllThreads() throws IOException {
    for (Kind kind : List.of(Kind.WRITE, Kind.READ, Kind.TRUNCATE, Kind.FORCE)) {
      RecordingFileSystem recording = recording(new Fault.Interrupt(), kind);
      FileChannel channel = open(recording);
      assertThrows(
          ClosedByInterruptException.class,
          () -> {
            switch (kind) {
              case WRITE -> channel.write(bytes("abc"));
              case READ -> channel.read(bytes("abc"), 0);
              case TRUNCATE -> channel.truncate(3);
              default -> channel.force(true);
            }
          });
      assertTrue(Thread.interrupted());
      assertFalse(channel.isOpen());
      assertHolds(BEFORE, recording);
    }
  }

  @Test
  void interrupt_doesNotCloseStreamsAndAsynchronousChannels() throws Exception {
    RecordingFileSystem recording =
        recording(FaultPlan.of(FaultRule.of(new Fault.Interrupt()).kinds(Kind.WRITE)));
    Path file = recording.directory().resolve("f");
    try (OutputStream out = Files.newOutputStream(file)) {
      out.write('a');
      assertTrue(Thread.currentThread().isInterrupted());
      out.write('b');
    }
    assertTrue(Thread.interrupted());
    try (AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(file, StandardOpenOption.WRITE)) {
      assertEquals(1, channel.write(bytes("c"), 1).get());
    }
    assertHolds("ac", recording);
  }

  @Test
  void threadInterruptedByItsProgram_closesTheChannelAsWithoutARecording() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    FileChannel channel = open(recording);
    Thread.currentThread().interrupt();
    assertThrows(ClosedByInterruptException.class, () -> channel.write(bytes("abc")));
    assertTrue(Thread.interrupted());
    assertFalse(channel.isOpen());
    assertHolds(BEFORE, recording);
  }

  // Not reported to the program

  @Test
  void flipBit_ofARead_isOnlyInTheResult() throws IOException {
    RecordingFileSystem recording = recording(new Fault.FlipBit(17), Kind.READ);
    try (FileChannel channel = open(recording)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(20);
      buffer.position(4);
      assertEquals(10, channel.read(buffer, 0));
      assertEquals('2' ^ 2, buffer.get(6));
      assertEquals('1', buffer.get(5));
      buffer.clear();
      channel.read(buffer, 0);
      assertEquals('2', buffer.get(2));
    }
    assertHolds(BEFORE, recording);
  }

  @Test
  void flipBit_ofAScatteringRead_isInTheRightBuffer() throws IOException {
    RecordingFileSystem recording = recording(new Fault.FlipBit(40), Kind.READ);
    try (FileChannel channel = open(recording)) {
      ByteBuffer[] buffers = {ByteBuffer.allocate(4), ByteBuffer.allocate(20)};
      assertEquals(10, channel.read(buffers));
      assertEquals(10, channel.position());
      assertEquals(List.of(4, 6), Arrays.stream(buffers).map(ByteBuffer::position).toList());
      assertEquals('5' ^ 1, buffers[1].get(1));
      assertEquals('0', buffers[0].get(0));
      assertEquals(-1, channel.read(new ByteBuffer[] {ByteBuffer.allocate(1)}));
    }
  }

  @Test
  void flipBit_ofAWrite_isOnTheDisk_andNotInTheBufferOfTheProgram() throws IOException {
    for (boolean keeping : new boolean[] {true, false}) {
      Files.writeString(below, BEFORE);
      RecordingFileSystem recording =
          RecordingFileSystem.over(temp)
              .faults(FaultPlan.of(FaultRule.of(new Fault.FlipBit(8)).kinds(Kind.WRITE)))
              .keepTrace(keeping)
              .start();
      byte[] mine = "aaa".getBytes(StandardCharsets.UTF_8);
      try (FileChannel channel = open(recording)) {
        assertEquals(3, channel.write(ByteBuffer.wrap(mine)));
      }
      assertArrayEquals("aaa".getBytes(StandardCharsets.UTF_8), mine);
      assertEquals("a" + (char) ('a' ^ 1) + "a3456789", Files.readString(below));
      if (keeping) {
        Replay.assertExact(recording.trace(), temp);
      }
    }
  }

  @Test
  void misdirectedWrite_goesElsewhere_andTheProgramSeesNoError() throws IOException {
    RecordingFileSystem recording =
        recording(FaultPlan.of(FaultRule.of(new Fault.Misdirect(4)).kinds(Kind.WRITE)));
    try (FileChannel channel = open(recording)) {
      assertEquals(2, channel.write(bytes("ab")));
      assertEquals(2, channel.position());
      assertEquals(2, channel.write(bytes("cd"), 4));
    }
    assertHolds("0123ab67cd", recording);
    RecordingFileSystem impossible = recording(new Fault.Misdirect(-4), Kind.WRITE);
    try (FileChannel channel = open(impossible)) {
      channel.write(bytes("x"), 3);
    }
    assertHolds("012xab67cd", impossible);
  }

  @Test
  void staleRead_returnsTheBytesBeforeTheLastWrite() throws IOException {
    RecordingFileSystem recording =
        recording(FaultPlan.of(FaultRule.of(new Fault.StaleRead()).kinds(Kind.READ)));
    try (FileChannel channel = open(recording)) {
      channel.write(bytes("abc"), 0);
      channel.write(bytes("XY"), 1);
      channel.write(bytes("new"), 9);
      ByteBuffer buffer = ByteBuffer.allocate(20);
      assertEquals(12, channel.read(buffer, 0));
      assertEquals("0bc3456789\0\0", new String(buffer.array(), 0, 12, StandardCharsets.UTF_8));
    }
    assertHolds("aXY345678new", recording);
  }

  @Test
  void lostWrite_isNowhere_andTheProgramSeesNoError() throws IOException {
    RecordingFileSystem recording = recording(new Fault.LoseWrite(), Kind.WRITE);
    try (FileChannel channel = open(recording)) {
      ByteBuffer buffer = bytes("abc");
      assertEquals(3, channel.write(buffer));
      assertEquals(3, buffer.position());
      assertEquals(3, channel.position());
      channel.write(bytes("def"));
    }
    assertEquals(1, recording.trace().operations().size());
    assertHolds("012def6789", recording);
  }

  // Calls of the injector

  @Test
  void injector_isCalledInOrderWithTheDetailsOfEachOperation() throws IOException {
    List<FileOperation> asked = new ArrayList<>();
    RecordingFileSystem recording =
        recording(operation -> {
          asked.add(operation);
          return Fault.NONE;
        });
    Path directory = recording.directory();
    Files.createDirectory(directory.resolve("d"));
    Path file = directory.resolve("d/g");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(bytes("abc"), 2);
      Files.move(file, directory.resolve("h"));
      channel.write(bytes("abc"), 4);
      channel.truncate(100);
      channel.truncate(1);
      channel.force(true);
    }
    Files.move(directory.resolve("h"), directory.resolve("f"), StandardCopyOption.REPLACE_EXISTING);
    Files.writeString(directory.resolve("f"), "");
    List<String> expected =
        List.of(
            "CREATE d 0+0 grows 0",
            "OPEN d/g 0+0 grows 0",
            "CREATE d/g 0+0 grows 0",
            "WRITE d/g 2+3 grows 5",
            "RENAME h 0+0 grows 0",
            "WRITE h 4+3 grows 2",
            "TRUNCATE h 1+0 grows 0",
            "FORCE h 0+0 grows 0",
            "DELETE f 0+0 grows 0",
            "RENAME f 0+0 grows 0",
            "OPEN f 0+0 grows 0",
            "TRUNCATE f 0+0 grows 0");
    assertEquals(
        expected,
        asked.stream()
            .map(each ->
                "%s %s %d+%d grows %d"
                    .formatted(
                        each.kind(), each.path(), each.offset(), each.length(), each.growth()))
            .toList());
    for (int i = 0; i < asked.size(); i++) {
      assertEquals(i, asked.get(i).number());
    }
    Replay.assertExact(recording.trace(), temp);
  }

  @Test
  void asynchronousWrite_failsInItsFuture() throws Exception {
    RecordingFileSystem recording = recording(new Fault.Fail("planted"), Kind.WRITE);
    try (AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(
            recording.directory().resolve("f"), StandardOpenOption.WRITE)) {
      ExecutionException failure =
          assertThrows(ExecutionException.class, () -> channel.write(bytes("abc"), 0).get());
      assertEquals("planted", assertInstanceOf(IOException.class, failure.getCause()).getMessage());
    }
    assertHolds(BEFORE, recording);
  }

  // The end of the process

  /** Overwrites the file under a plan to die at the second write. */
  public static final class Dying {
    public static void main(String[] arguments) throws IOException {
      boolean after = Boolean.parseBoolean(arguments[1]);
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(() -> {
                try {
                  Files.writeString(Path.of(arguments[0], "hook"), "ran");
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              }));
      RecordingFileSystem recording =
          RecordingFileSystem.over(Path.of(arguments[0]))
              .keepTrace(false)
              .faults(FaultPlan.of(FaultRule.of(new Fault.Die(after)).kinds(Kind.WRITE).nth(2)))
              .start();
      try (FileChannel channel = open(recording)) {
        for (int i = 0; i < 10; i++) {
          channel.write(bytes("x"));
        }
      }
    }
  }

  @Test
  void die_endsTheProcessBeforeOrAfterTheOperation() throws IOException {
    for (boolean after : new boolean[] {false, true}) {
      Files.writeString(below, BEFORE);
      try (ForkedJvm child =
          ForkedJvm.of(Dying.class)
              .withCodeOf(Dying.class)
              .shortLived()
              .argument(temp)
              .argument(after)
              .fork()) {
        child.drain();
        assertEquals(128 + 9, child.awaitEnd(), child::stderr);
      }
      assertEquals(after ? "xx23456789" : "x123456789", Files.readString(below));
      assertFalse(Files.exists(temp.resolve("hook")));
    }
  }
}
