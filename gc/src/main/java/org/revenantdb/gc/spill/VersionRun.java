package org.revenantdb.gc.spill;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.recovery.format.KeyHash;

/**
 * Older versions of rows in a file, sorted by row; versions of one row, the newest first.
 * Immutable.
 *
 * <p>A reader holds the run while it reads; the list of runs holds it, too. The last holder to let
 * go deletes the file. After that the run cannot be held any more.
 *
 * <p>Threads: any thread may query what is in memory. Threads of the engine read the file and let
 * go.
 */
final class VersionRun {
  private final SpillFiles files;
  private final SpillFile file;
  private final Fences fences;
  private final BloomFilter filter;
  private final long versions;
  private final long largeValues;
  private final long minCommitted;
  private final long maxSuperseded;

  /** The number of snapshots for which it was written. */
  private final int snapshots;

  private final Holders holders = new Holders();

  VersionRun(
      SpillFiles files,
      SpillFile file,
      Fences fences,
      BloomFilter filter,
      long versions,
      long largeValues,
      long minCommitted,
      long maxSuperseded,
      SnapshotSet written) {
    this.files = files;
    this.file = file;
    this.fences = fences;
    this.filter = filter;
    this.versions = versions;
    this.largeValues = largeValues;
    this.minCommitted = minCommitted;
    this.maxSuperseded = maxSuperseded;
    this.snapshots = snapshots(written);
  }

  /** The number of versions. */
  long versions() {
    return versions;
  }

  /** The number of large values among them. */
  long largeValues() {
    return largeValues;
  }

  /** Bytes on disk. */
  long bytes() {
    return fences.position(fences.count());
  }

  /** Bytes in memory. */
  int indexBytes() {
    return fences.bytes() + filter.bytes();
  }

  /** Whether a snapshot of the set, or a future one, may need a version of this run. */
  boolean isNeeded(SnapshotSet snapshots) {
    return snapshots.needs(minCommitted, maxSuperseded);
  }

  /**
   * Whether half of the snapshots for which it was written have ended. Then many of its versions
   * may be unneeded, though the other snapshots keep the run.
   */
  boolean isWorthRewriting(SnapshotSet now) {
    return snapshots > 1 && snapshots(now) <= snapshots / 2;
  }

  private int snapshots(SnapshotSet set) {
    int[] count = {0};
    set.forEach(snapshot -> count[0] += covers(snapshot) ? 1 : 0);
    return count[0];
  }

  /** Whether a snapshot may find a row in this run. */
  boolean mayHave(byte[] row, long snapshot) {
    return covers(snapshot) && filter.mayHave(KeyHash.hash(row));
  }

  /** Whether it may have a version of a row. */
  boolean mayHave(byte[] row) {
    return filter.mayHave(KeyHash.hash(row));
  }

  private boolean covers(long snapshot) {
    return minCommitted <= snapshot && snapshot < maxSuperseded;
  }

  /** Keeps the file from being deleted; false if it is deleted, or about to be. */
  boolean tryHold() {
    return holders.tryHold();
  }

  /** Ends a hold. The last holder deletes the file. */
  void letGo() {
    if (holders.letGo()) {
      files.delete(file);
    }
  }

  /**
   * Looks for the versions that a snapshot sees. The caller holds the run.
   *
   * @param rows the rows; those that are in order and near each other are found with one read
   * @param found receives the versions, at the indexes of the rows; a row that has a version
   *     already is not looked for
   */
  void find(List<byte[]> rows, long snapshot, @Nullable SpilledVersion[] found) {
    int part = -1;
    byte[] blocks = {};
    for (int i = 0; i < found.length; i++) {
      byte[] row = rows.get(i);
      if (found[i] == null && mayHave(row, snapshot)) {
        int partOfRow = fences.partOf(row);
        if (partOfRow != part) {
          blocks = read(partOfRow);
          part = partOfRow;
        }
        found[i] = find(blocks, row, snapshot);
      }
    }
  }

  /** The first version at or below the snapshot is the only one of the run that it can see. */
  private static @Nullable SpilledVersion find(byte[] blocks, byte[] row, long snapshot) {
    EntryCursor entries = new EntryCursor(blocks);
    while (entries.next()) {
      int order = entries.compareRow(row);
      if (order > 0) {
        return null;
      }
      if (order == 0 && entries.committedAt() <= snapshot) {
        return entries.supersededAt() > snapshot ? entries.version() : null;
      }
    }
    return null;
  }

  private byte[] read(int part) {
    return file.read(fences.position(part), fences.position(part + 1));
  }

  /** Passes all versions to the visitor, in order. The caller holds the run. */
  void forEach(Consumer<SpilledVersion> visitor) {
    Scan scan = new Scan();
    for (SpilledVersion version = scan.next(); version != null; version = scan.next()) {
      visitor.accept(version);
    }
  }

  /** Iterates over all versions, in order. The caller holds the run. */
  final class Scan {
    private int part = -1;
    private EntryCursor entries = new EntryCursor(new byte[0]);

    /** The next version, null at the end. */
    @Nullable SpilledVersion next() {
      while (!entries.next()) {
        part++;
        if (part == fences.count()) {
          part--;
          return null;
        }
        entries = new EntryCursor(read(part));
      }
      return entries.version();
    }
  }
}
