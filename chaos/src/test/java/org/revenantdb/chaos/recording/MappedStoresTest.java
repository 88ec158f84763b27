package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.trace.Operation;

/** Stores into memory that a file is mapped to are in the trace, page by page. */
class MappedStoresTest {
  private static final int PAGE = 4096;

  private final Path root = MemoryFileSystem.of(new DiskImage()).root();
  private RecordingFileSystem recording;
  private Path file;

  @BeforeEach
  void record() throws IOException {
    Files.write(root.resolve("f"), new byte[3 * PAGE]);
    Files.write(root.resolve("g"), new byte[1]);
    recording = RecordingFileSystem.over(root).start();
    file = recording.directory().resolve("f");
  }

  private static MemorySegment map(Path file, long from, long size, Arena arena)
      throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(MapMode.READ_WRITE, from, size, arena);
    }
  }

  private static void store(MemorySegment memory, long at, int value) {
    memory.set(ValueLayout.JAVA_BYTE, at, (byte) value);
  }

  /** Changes something else, so that the stores before that get their place. */
  private static void touch(RecordingFileSystem recording) throws IOException {
    Files.write(recording.directory().resolve("g"), new byte[] {7}, StandardOpenOption.WRITE);
  }

  private List<String> writes() {
    return recording.trace().operations().stream()
        .filter(Operation.Write.class::isInstance)
        .map(Operation.Write.class::cast)
        .map(write -> write.offset() + "+" + write.data().length)
        .toList();
  }

  @Test
  void stores_areWritesOfTheirPages_beforeTheNextOperation() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = map(file, PAGE, 2 * PAGE, arena);
      store(memory, 10, 1);
      store(memory, 20, 2);
      store(memory, PAGE, 3);
      touch(recording);
      store(memory, 10, 4);
      touch(recording);
      assertEquals(List.of("4096+4096", "8192+4096", "0+1", "4096+4096", "0+1"), writes());
    }
    Replay.assertExact(recording.trace(), root);
    assertEquals(List.of(), recording.trace().gaps());
    assertEquals(4, Files.readAllBytes(root.resolve("f"))[PAGE + 10]);
  }

  @Test
  void stores_areSeenByReaders_andStayWhenTheMappingEnds() throws IOException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = map(file, 0, PAGE, arena);
      store(memory, 5, 1);
      assertEquals(1, Files.readAllBytes(file)[5]);
      store(memory, 5, 2);
    }
    assertEquals(2, Files.readAllBytes(file)[5]);
    assertEquals(List.of("0+4096", "0+4096"), writes());
  }

  @Test
  void mapping_hasWhatTheFileHas_andMakesItLonger() throws IOException {
    Files.write(file, new byte[] {1, 2, 3});
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = map(file, 1, 9, arena);
      assertArrayEquals(
          new byte[] {2, 3, 0, 0, 0, 0, 0, 0, 0}, memory.toArray(ValueLayout.JAVA_BYTE));
      assertEquals(10, Files.size(root.resolve("f")));
      store(memory, 8, 9);
    }
    Replay.assertExact(recording.trace(), root);
    assertEquals(9, Files.readAllBytes(root.resolve("f"))[9]);
  }

  /** The kernel has what a killed process has stored, and nothing that a zombie stores later. */
  @Test
  void deadProcess_leavesItsStores_andNoLaterOnes() throws IOException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = map(file, 0, PAGE, arena);
      store(memory, 1, 1);
      RecordingFileSystem next = recording.nextProcess(FaultInjector.NOTHING);
      assertEquals(1, Files.readAllBytes(next.directory().resolve("f"))[1]);
      store(memory, 2, 2);
      touch(next);
      assertEquals(0, Files.readAllBytes(next.directory().resolve("f"))[2]);
      recording = next;
    }
    assertEquals(List.of("0+4096", "0+1"), writes());
    Replay.assertExact(recording.trace(), root);
  }

  @Test
  void fileThatWasDeleted_takesStoresNoMore() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = map(file, 0, PAGE, arena);
      Files.delete(file);
      store(memory, 1, 1);
      touch(recording);
    }
    Replay.assertExact(recording.trace(), root);
  }

  @Test
  void channelThatCannotWrite_isRefused() throws IOException {
    try (FileChannel channel = FileChannel.open(file);
        Arena arena = Arena.ofConfined()) {
      assertThrows(
          NonWritableChannelException.class, () -> channel.map(MapMode.READ_WRITE, 0, PAGE, arena));
    }
  }
}
