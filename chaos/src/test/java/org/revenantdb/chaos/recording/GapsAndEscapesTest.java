package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operations that cannot be recorded, or that are outside the directory, are reported. */
class GapsAndEscapesTest {

  @TempDir Path temp;
  private Path inside;
  private RecordingFileSystem recording;
  private Path outside;

  @BeforeEach
  void record() throws IOException {
    inside = Files.createDirectory(temp.resolve("inside"));
    Files.write(inside.resolve("f"), new byte[5000]);
    Files.write(temp.resolve("outside"), new byte[5000]);
    recording = RecordingFileSystem.over(inside).start();
    outside = recording.directory().resolveSibling("outside");
  }

  private void assertGap(String what) {
    List<String> gaps = recording.trace().gaps();
    assertEquals(1, gaps.size(), gaps::toString);
    assertTrue(gaps.getFirst().startsWith(what), gaps.getFirst());
    assertTrue(gaps.getFirst().contains("\n    at "), gaps.getFirst());
    assertEquals(List.of(), recording.trace().escapes());
  }

  private void assertEscapes(String... beginnings) {
    List<String> escapes = recording.trace().escapes();
    assertEquals(beginnings.length, escapes.size(), escapes::toString);
    for (int i = 0; i < beginnings.length; i++) {
      assertTrue(escapes.get(i).startsWith(beginnings[i]), escapes.get(i));
      assertTrue(escapes.get(i).contains("\n    at "), escapes.get(i));
    }
  }

  @Test
  void bufferMappedForWriting_isAGap_onceForEachPlace() throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            recording.directory().resolve("f"),
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      for (int i = 0; i < 3; i++) {
        channel.map(MapMode.READ_WRITE, 0, 100).put(0, (byte) 1);
      }
      assertGap("a mapping for writing of f");
    }
  }

  @Test
  void readOnlyMapping_isNotAGap_butMayGrowTheFile() throws IOException {
    try (FileChannel channel =
            FileChannel.open(
                recording.directory().resolve("f"),
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        Arena arena = Arena.ofConfined()) {
      channel.map(MapMode.READ_ONLY, 0, 100);
      channel.map(MapMode.PRIVATE, 0, 100).put(0, (byte) 1);
      channel.map(MapMode.READ_ONLY, 0, 100, arena);
      assertEquals(List.of(), recording.trace().operations());
      channel.map(MapMode.PRIVATE, 4000, 2000);
    }
    assertEquals(6000, Files.size(inside.resolve("f")));
    Replay.assertExact(recording.trace(), inside);
    assertEquals(List.of(), recording.trace().gaps());
  }

  @Test
  void refusedMapping_isAGapToo() throws IOException {
    try (FileChannel channel = FileChannel.open(recording.directory().resolve("f"))) {
      assertThrows(RuntimeException.class, () -> channel.map(MapMode.READ_WRITE, 0, 100));
    }
    assertGap("a mapping for writing of f");
  }

  @Test
  void javaIoFile_isAGap() {
    recording.directory().resolve("f").toFile();
    assertGap("operations on a java.io.File cannot be recorded: " + inside.resolve("f"));
  }

  @Test
  void symbolicLink_isAGap_andCanBeDeleted() throws IOException {
    Path link = recording.directory().resolve("link");
    Files.createSymbolicLink(link, recording.directory().resolve("f"));
    assertGap("a symbolic link is not recorded");
    assertTrue(Files.isSymbolicLink(link));
    assertEquals(recording.directory().resolve("f"), Files.readSymbolicLink(link));
    Files.delete(link);
    assertFalse(Files.exists(link));
  }

  @Test
  void initialFileWithTwoNames_isAGap() throws IOException {
    Files.createLink(inside.resolve("g"), inside.resolve("f"));
    recording = RecordingFileSystem.over(inside).start();
    assertEquals(1, recording.trace().gaps().size());
  }

  @Test
  void fileMadeWithoutTheRecording_isAGap_andTakenOver() throws IOException {
    Files.writeString(inside.resolve("unseen"), "text");
    Path unseen = recording.directory().resolve("unseen");
    try (FileChannel channel = FileChannel.open(unseen, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {'T'}));
    }
    assertGap("something was created outside the recording");
    Replay.assertExact(recording.trace(), inside);
  }

  @Test
  void changesWithoutTheRecording_areGaps_evenIfNoOperationFindsThem() throws IOException {
    Files.createDirectory(recording.directory().resolve("d"));
    assertEquals(List.of(), recording.trace().gaps());
    Files.createFile(inside.resolve("d/unseen"));
    Files.delete(inside.resolve("f"));
    List<String> gaps = recording.trace().gaps();
    assertEquals(2, gaps.size());
    assertTrue(
        gaps.getFirst().startsWith("something was created outside the recording: "),
        gaps::toString);
    assertTrue(
        gaps.getLast().startsWith("something was deleted outside the recording: "), gaps::toString);
  }

  @Test
  void changesOutside_areCarriedOutAndReported() throws IOException {
    Path made = outside.resolveSibling("made");
    Files.createDirectory(made);
    Files.writeString(made.resolve("g"), "text");
    try (FileChannel channel = FileChannel.open(outside, StandardOpenOption.WRITE)) {
      channel.truncate(10);
      for (int i = 0; i < 3; i++) {
        channel.write(ByteBuffer.wrap(new byte[100]));
      }
      channel.force(true);
    }
    Files.newOutputStream(outside).close();
    Files.move(made.resolve("g"), made.resolve("h"));
    Files.delete(made.resolve("h"));
    assertFalse(Files.exists(temp.resolve("made/h")));
    assertEquals(0, Files.size(temp.resolve("outside")));
    assertEscapes(
        "the creation of ",
        "the creation of ",
        "a write to ",
        "a truncation of ",
        "a write to ",
        "a truncation of ",
        "a move of ",
        "the deletion of ");
    assertEquals(List.of(), recording.trace().operations());
    assertEquals(0, recording.counted().writes());
  }

  @Test
  void readingOutside_isNotReported() throws IOException {
    assertEquals(5000, Files.readAllBytes(outside).length);
    Files.copy(outside, recording.directory().resolve("copy"));
    assertEscapes();
    assertEquals(0, recording.counted().reads());
    Replay.assertExact(recording.trace(), inside);
  }

  @Test
  void movesAcrossTheBorder_areEscapes_andTheTraceStaysRight() throws IOException {
    Path directory = Files.createDirectories(recording.directory().resolve("d/e")).getParent();
    Files.writeString(directory.resolve("e/g"), "text");
    Files.move(directory, outside.resolveSibling("away"));
    Replay.assertExact(recording.trace(), inside);
    Files.move(outside, recording.directory().resolve("f"), StandardCopyOption.REPLACE_EXISTING);
    Replay.assertExact(recording.trace(), inside);
    Files.move(outside.resolveSibling("away"), recording.directory().resolve("back"));
    assertEquals("text", Files.readString(inside.resolve("back/e/g")));
    Replay.assertExact(recording.trace(), inside);
    Files.copy(recording.directory().resolve("f"), outside);
    assertEscapes("a move of ", "a move of ", "a move of ", "a copy to ");
  }

  @Test
  void linksAcrossTheBorder_areReported() throws IOException {
    Files.createLink(outside.resolveSibling("link"), recording.directory().resolve("f"));
    assertEscapes("a link ");
    Files.createLink(recording.directory().resolve("link"), outside);
    assertTrue(recording.trace().gaps().getFirst().startsWith("a link "));
    Replay.assertExact(recording.trace(), inside);
  }

  @Test
  void realPath_ofADirectoryReachedByALink_isInside() throws IOException {
    Path link = Files.createSymbolicLink(temp.resolve("link"), inside);
    recording = RecordingFileSystem.over(link).start();
    Path real = recording.directory().toRealPath();
    Files.writeString(real.resolve("g"), "text");
    Files.writeString(recording.directory().resolve("g"), "longer text");
    Replay.assertExact(recording.trace(), inside);
    assertEscapes();
  }
}
