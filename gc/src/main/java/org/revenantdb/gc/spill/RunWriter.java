package org.revenantdb.gc.spill;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.VersionFlags;
import org.revenantdb.recovery.format.KeyHash;

/**
 * Writes a run; on a thread of the engine.
 *
 * <p>Failure: what {@link #add} or {@link #finish} throws leaves a file that {@link #abandon} takes
 * away.
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
   * A run without versions.
   *
   * @param most how many there will be, at the most
   * @param index bytes that what leads to them may take in memory
   */
  RunWriter(SpillFiles files, long most, int index) {
    this.files = files;
    this.fences = new Fences(index / 3);
    this.filter = new BloomFilter(most, index - index / 3);
    this.file = files.create(SpillFiles.Kind.VERSIONS);
    this.blocks = new BlockWriter(file);
  }

  /** Adds a version, which comes behind those before in their order. */
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
   * The run; null, and no file, if there are no versions.
   *
   * @param snapshots for which it was written
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

  /** There is to be no run. */
  void abandon() {
    files.delete(file);
  }
}
