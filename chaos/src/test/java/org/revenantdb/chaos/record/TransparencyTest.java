package org.revenantdb.chaos.record;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.disk.DiskImage;

/** A program cannot tell whether it is recorded, and what was recorded is what happened. */
class TransparencyTest {

  @TempDir Path temp;

  @Test
  void randomWork_recorded_endsLikeTheSameUnrecorded() throws Exception {
    long first = RandomGenerator.getDefault().nextLong();
    for (long seed = first; seed < first + 30; seed++) {
      System.out.println("seed " + seed);
      Path plain = RandomFiles.prepared(temp.resolve("plain" + seed));
      Path recorded = RandomFiles.prepared(temp.resolve("recorded" + seed));
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
      assertEquals(0, recording.trace().gaps().size(), () -> recording.trace().gaps().toString());
      assertEquals(0, recording.trace().escapes().size());
    }
  }
}
