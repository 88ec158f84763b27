package org.revenantdb.gc.spill;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;

/** Merges several runs into one, without the versions that no snapshot needs. */
final class RunMerge {
  /** The number of versions between two calls of `between`. */
  private static final int STEP = 1024;

  /** A run that is merged, and its next version. */
  private static final class Input {
    final VersionRun.Scan scan;
    SpilledVersion next;

    Input(VersionRun.Scan scan, SpilledVersion first) {
      this.scan = scan;
      this.next = first;
    }
  }

  private RunMerge() {}

  /**
   * Merges runs that the caller holds; called on a thread of the engine.
   *
   * @param snapshots decide what is needed
   * @param index the greatest size of the run's index in memory, in bytes
   * @param between called from time to time, because a merge may take long
   * @return the run, null if nothing is needed
   */
  static @Nullable VersionRun merge(
      SpillFiles files, List<VersionRun> runs, SnapshotSet snapshots, int index, Runnable between) {
    long most = runs.stream().mapToLong(VersionRun::versions).sum();
    RunWriter writer = new RunWriter(files, most, index);
    try {
      PriorityQueue<Input> inputs =
          new PriorityQueue<>(Comparator.comparing(input -> input.next, SpilledVersion::compare));
      for (VersionRun run : runs) {
        VersionRun.Scan scan = run.new Scan();
        SpilledVersion first = scan.next();
        if (first != null) {
          inputs.add(new Input(scan, first));
        }
      }
      long seen = 0;
      for (Input input = inputs.poll(); input != null; input = inputs.poll()) {
        SpilledVersion version = input.next;
        if (snapshots.needs(version.committedAt(), version.supersededAt())) {
          writer.add(version);
        }
        SpilledVersion next = input.scan.next();
        if (next != null) {
          input.next = next;
          inputs.add(input);
        }
        seen++;
        if (seen % STEP == 0) {
          between.run();
        }
      }
      return writer.finish(snapshots);
    } catch (Throwable failure) {
      writer.abandon();
      throw failure;
    }
  }
}
