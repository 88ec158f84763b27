package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.trace.Trace;

/**
 * What a store does to its directory without the recorder. Found by a comparison of the directory
 * with the recording: of the names, and of the bytes of each file.
 *
 * <p>Threads: one. The store may still run.
 */
final class Unseen {
  /*
   * A thread of the store may write while its files are read. Then the bytes differ, although
   * everything is recorded. So a difference counts only if several comparisons show it, and if no
   * operation took its place during any of them. If the store never rests that long, nothing
   * counts, and a note says so. Names need none of this: they are compared under the lock of the
   * recorder.
   */

  /** As many comparisons must show the same difference. */
  private static final int LOOKS = 3;

  private static final int MOST_LOOKS = 20;

  private final RecordingFileSystem recording;
  private final Path directory;
  private final boolean comparesBytes;
  private final List<String> notes = new ArrayList<>();

  /**
   * Begins before the store is opened.
   *
   * @param recording of the directory
   * @param directory the real one
   */
  Unseen(RecordingFileSystem recording, Path directory) {
    this.recording = recording;
    this.directory = directory;
    // A file with two names is two files in the trace, if it was there before.
    this.comparesBytes = recording.trace().gaps().isEmpty();
  }

  /** The changes so far, one sentence each. */
  List<String> changes() {
    Set<String> bytes = comparesBytes ? bytes() : Set.of();
    List<String> changes = new ArrayList<>(recording.trace().gaps());
    List<String> harmless = changes.stream().filter(recording.waysAround()::contains).toList();
    changes.removeAll(harmless);
    changes.addAll(bytes);
    notes.addAll(harmless);
    return changes;
  }

  /** What the user should know, from the last call of {@link #changes}. */
  List<String> notes() {
    List<String> told = List.copyOf(notes);
    notes.clear();
    return told;
  }

  private Set<String> bytes() {
    @Nullable Set<String> found = null;
    int looks = 0;
    for (int i = 0; i < MOST_LOOKS && looks < LOOKS; i++) {
      long before = recording.clock().now();
      @Nullable Set<String> different = different();
      if (different == null || recording.clock().now() != before) {
        continue;
      }
      looks++;
      if (found == null) {
        found = different;
      } else {
        found.retainAll(different);
      }
      if (found.isEmpty()) {
        return found;
      }
    }
    if (found == null || looks < LOOKS) {
      notes.add("the store changed its files whenever they were compared with the recording");
      return Set.of();
    }
    return found;
  }

  /** The files with other bytes than in the trace; null if a file went while it was read. */
  private @Nullable Set<String> different() {
    Trace trace = recording.trace();
    DiskImage model =
        new PowerCut(trace, PlatformProfile.EXT4_ORDERED.rules())
            .state(Long.MAX_VALUE, Losses.none())
            .image();
    DiskImage real;
    try {
      real = DiskImage.of(directory);
    } catch (IOException | UncheckedIOException | DirectoryIteratorException e) {
      return null;
    }
    Map<String, Integer> known = model.paths();
    Set<String> different = new TreeSet<>();
    real.paths()
        .forEach((path, node) -> {
          Integer ours = known.get(path);
          if (ours != null
              && !real.isDirectory(node)
              && !model.isDirectory(ours)
              && !real.file(node).equals(model.file(ours))) {
            different.add("bytes were written outside the recording: " + path);
          }
        });
    return different;
  }
}
