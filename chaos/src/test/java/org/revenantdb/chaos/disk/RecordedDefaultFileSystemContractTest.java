package org.revenantdb.chaos.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.recording.Replay;

/** A recording of the default file system keeps the same contract. */
class RecordedDefaultFileSystemContractTest extends FileSystemContract {

  @TempDir private Path below;
  private RecordingFileSystem recording;

  @BeforeEach
  void record() throws IOException {
    recording = RecordingFileSystem.over(below).start();
  }

  @Override
  Path directory() {
    return recording.directory();
  }

  @AfterEach
  void the_trace_agrees_with_the_directory() throws IOException {
    Replay.assertExact(recording.trace(), below);
    assertEquals(List.of(), recording.trace().gaps());
    assertEquals(List.of(), recording.trace().escapes());
  }
}
