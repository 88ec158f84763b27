package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

/** What one file holds for certain, and what was written to it since. */
final class UnforcedWrites {
  private static final int SECTOR = 512;

  /** A write or, with no bytes, a truncation to {@code position}. */
  private record Change(long position, byte[] bytes, boolean truncates) {}

  private final Path file;
  private byte[] forced;
  private List<Change> changes = new ArrayList<>();

  UnforcedWrites(Path file) throws IOException {
    this(file, Files.readAllBytes(file));
  }

  private UnforcedWrites(Path file, byte[] forced) {
    this.file = file;
    this.forced = forced;
  }

  UnforcedWrites movedTo(Path to) {
    UnforcedWrites moved = new UnforcedWrites(to, forced);
    moved.changes = changes;
    return moved;
  }

  void wrote(long position, byte[] bytes) {
    changes.add(new Change(position, bytes, /* truncates= */ false));
  }

  void truncated(long size) {
    changes.add(new Change(size, new byte[0], /* truncates= */ true));
  }

  void forced() {
    changes.forEach(this::apply);
    changes.clear();
  }

  /**
   * Every second sector arrives, the first does not; the system marks all as clean, so no later
   * force writes them.
   */
  void forceFailed() {
    int[] sectors = {0};
    changes.forEach(change -> someSectors(change, () -> sectors[0]++ % 2 == 1));
    changes.clear();
  }

  void powerCut(Random random) throws IOException {
    for (Change change : changes) {
      someSectors(change, random::nextBoolean);
    }
    Files.write(file, forced);
  }

  private void someSectors(Change change, BooleanSupplier arrives) {
    if (change.truncates && arrives.getAsBoolean()) {
      apply(change);
    }
    int done = 0;
    while (done < change.bytes.length) {
      long at = change.position + done;
      int n = (int) Math.min(change.bytes.length - done, SECTOR - at % SECTOR);
      if (arrives.getAsBoolean()) {
        put(at, Arrays.copyOfRange(change.bytes, done, done + n));
      }
      done += n;
    }
  }

  private void apply(Change change) {
    if (!change.truncates) {
      put(change.position, change.bytes);
    } else if (change.position < forced.length) {
      forced = Arrays.copyOf(forced, (int) change.position);
    }
  }

  private void put(long position, byte[] bytes) {
    int end = Math.toIntExact(position + bytes.length);
    if (end > forced.length) {
      forced = Arrays.copyOf(forced, end);
    }
    System.arraycopy(bytes, 0, forced, (int) position, bytes.length);
  }
}
