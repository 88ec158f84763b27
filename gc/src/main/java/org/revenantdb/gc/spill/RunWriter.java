package org.revenantdb.gc.spill;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.VersionFlags;
import org.revenantdb.recovery.format.KeyHash;

/**
 * Writes a run, on a thread of the engine.
 *
 * <p>Failure: if {@link #add} or {@link #finish} throws, a file is left; {@link #abandon} deletes
 * it.
 */
final class RunWriter {
  private final SpillFiles files;
  private final SpillFile file;
  private final BlockWriter blocks;
  private final Fences fences;
  private final BloomFilter filter;
  private byte[] lastRow = {};
  private long versions;
  private long largeValues;
  private long minCommitted = Long.MAX_VALUE;
  private long maxSuperseded;

  /**
   * Begins a run without versions.
   *
   * @param most the greatest number of versions
   * @param index the greatest size of the run's index in memory, in bytes
   */
  RunWriter(SpillFiles files, long most, int index) {
    this.files = files;
    this.fences = new Fences(index / 3);
    this.filter = new BloomFilter(most, index - index / 3);
    this.file = files.create(SpillFiles.Kind.VERSIONS);
    this.blocks = new BlockWriter(file);
  }

  /** Adds a version. Versions must be added in their order. */
  void add(SpilledVersion version) {
    byte[] row = version.row();
    boolean isNewRow = !Arrays.equals(row, lastRow);
    if (blocks.isFull()) {
      blocks.endBlock();
      if (isNewRow) {
        fences.add(lastRow, row, blocks.position());
      }
    } else if (versions == 0) {
      fences.add(lastRow, row, blocks.position());
    }
    if (isNewRow) {
      filter.add(KeyHash.hash(row));
      lastRow = row;
    }
    blocks.add(version);
    versions++;
    if ((version.flags() & VersionFlags.OVERFLOW) != 0) {
      largeValues++;
    }
    minCommitted = Math.min(minCommitted, version.committedAt());
    maxSuperseded = Math.max(maxSuperseded, version.supersededAt());
  }

  /**
   * Ends the run and returns it. If there are no versions, returns null and leaves no file.
   *
   * @param snapshots the snapshots for which it was written
   */
  @Nullable VersionRun finish(SnapshotSet snapshots) {
    if (versions == 0) {
      abandon();
      return null;
    }
    blocks.finish();
    fences.finish(blocks.position());
    return new VersionRun(
        files, file, fences, filter, versions, largeValues, minCommitted, maxSuperseded, snapshots);
  }

  /** Gives up the run and deletes its file. */
  void abandon() {
    files.delete(file);
  }
}
