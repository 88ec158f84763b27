package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;

/** A program cannot detect that it is recorded, and the recording shows what happened. */
class TransparencyTest {

  @TempDir Path temp;

  @Test
  void randomWork_recorded_endsLikeTheSameUnrecorded() throws Exception {
    long first = Long.getLong("revenant.seed", RandomGenerator.getDefault().nextLong());
    for (long seed = first; seed < first + 3; seed++) {
      compare(
          seed,
          Files.createDirectory(temp.resolve("plain" + seed)),
          Files.createDirectory(temp.resolve("recorded" + seed)));
    }
  }

  @Test
  void randomWork_onADiskInMemory_endsLikeTheSameUnrecorded() throws Exception {
    long first = Long.getLong("revenant.seed", RandomGenerator.getDefault().nextLong());
    for (long seed = first; seed < first + 20; seed++) {
      try (MemoryFileSystem plain = MemoryFileSystem.of(new DiskImage());
          MemoryFileSystem recorded = MemoryFileSystem.of(new DiskImage())) {
        compare(seed, plain.root(), recorded.root());
      }
    }
  }

  private static void compare(long seed, Path plain, Path recorded) throws IOException {
    System.out.println("seed " + seed);
    RandomFiles.prepare(plain);
    RandomFiles.prepare(recorded);
    RecordingFileSystem recording = RecordingFileSystem.over(recorded).start();
    RandomFiles without = new RandomFiles(plain, seed);
    RandomFiles with = new RandomFiles(recording.directory(), seed);
    try (without;
        with) {
      without.steps(300);
      with.steps(300);
    }
    for (int i = 0; i < without.said().size(); i++) {
      assertEquals(without.said().get(i), with.said().get(i), "seed " + seed);
    }
    Replay.assertSame(DiskImage.of(plain), DiskImage.of(recorded));
    Replay.assertExact(recording.trace(), recorded);
    assertEquals(List.of(), recording.trace().gaps());
    assertEquals(List.of(), recording.trace().escapes());
  }
}
