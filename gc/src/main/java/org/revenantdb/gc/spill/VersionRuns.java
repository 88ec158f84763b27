package org.revenantdb.gc.spill;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.latch.PatientLock;

/**
 * The list of runs: finds older versions in them, and merges several into one.
 *
 * <p>Threads: any thread may look up versions. Threads of the engine add, merge and drop runs; one
 * at a time adds and merges. Failure: a {@link org.revenantdb.recovery.file.FileException}; then
 * nothing has changed.
 */
public final class VersionRuns {
  /*
   * Protocol    docs/protocols.md §30.
   *
   * runs        one volatile list, never changed, replaced as a whole under `changing`.
   * Invariants  V1 a version that some snapshot needs and that has left memory is in a run of the list.
   *             V2 the list holds each of its runs. So a reader that finds a run that cannot be held has an old list.
   *             The present list has the needed versions of that run.
   */
  /**
   * Runs are similar, and are merged, if each is at most this many times as long as the next
   * smaller one.
   */
  private static final int SIMILAR = 4;

  /** This many similar runs are merged into one. */
  private static final int TOGETHER = 4;

  /** If there are more runs than this, some are merged even if they are not similar. */
  private static final int MOST_RUNS = 8;

  /** The indexes of all runs together may take a quarter of the memory budget. */
  private static final int INDEX_SHARE = 4;

  private final SpillFiles files;
  private final int index;
  private final LongConsumer takes;
  private final LongConsumer givesBack;
  private final PatientLock changing = new PatientLock();
  private volatile List<VersionRun> runs = List.of();

  /**
   * Makes an empty list.
   *
   * @param budget memory for older versions; a part of it is for the indexes of the runs
   * @param takes receives the memory that an index will take, before it does
   * @param givesBack receives the memory that an index no longer takes, afterwards
   */
  public VersionRuns(SpillFiles files, long budget, LongConsumer takes, LongConsumer givesBack) {
    this.files = files;
    this.index =
        (int) Math.min(Integer.MAX_VALUE / 2, budget / (INDEX_SHARE * (MOST_RUNS + TOGETHER)));
    this.takes = takes;
    this.givesBack = givesBack;
  }

  /** Whether there are no runs. */
  public boolean isEmpty() {
    return runs.isEmpty();
  }

  /** The number of runs. */
  public int count() {
    return runs.size();
  }

  /** Bytes on disk. */
  public long bytes() {
    return runs.stream().mapToLong(VersionRun::bytes).sum();
  }

  /**
   * Writes versions to a run, and adds it to the list.
   *
   * @param versions in order
   * @param count the number of versions
   * @param snapshots the snapshots for which they are kept
   */
  public void add(Stream<SpilledVersion> versions, long count, SnapshotSet snapshots) {
    RunWriter writer = new RunWriter(files, count, index);
    VersionRun run;
    try {
      versions.forEachOrdered(writer::add);
      run = writer.finish(snapshots);
    } catch (Throwable failure) {
      writer.abandon();
      throw failure;
    }
    replace(List.of(), run);
  }

  /**
   * The version of each row that a snapshot sees, if it is in a run.
   *
   * @param rows preferably in ascending or descending order
   */
  public @Nullable SpilledVersion[] find(List<byte[]> rows, long snapshot) {
    @Nullable SpilledVersion[] found = new SpilledVersion[rows.size()];
    if (mayHaveAny(rows, snapshot)) {
      files.call(() -> {
        boolean all;
        do {
          all = findIn(runs, rows, snapshot, found);
        } while (!all);
        return found;
      });
    }
    return found;
  }

  /** Whether a run may have a version of a row. Accesses no file. */
  public boolean mayHave(byte[] row) {
    for (VersionRun run : runs) {
      if (run.mayHave(row)) {
        return true;
      }
    }
    return false;
  }

  private boolean mayHaveAny(List<byte[]> rows, long snapshot) {
    for (VersionRun run : runs) {
      for (byte[] row : rows) {
        if (run.mayHave(row, snapshot)) {
          return true;
        }
      }
    }
    return false;
  }

  /** False if one of the runs has been deleted: then there is a newer list. */
  private static boolean findIn(
      List<VersionRun> there, List<byte[]> rows, long snapshot, @Nullable SpilledVersion[] found) {
    for (VersionRun run : there) {
      if (!run.tryHold()) {
        return false;
      }
      try {
        run.find(rows, snapshot, found);
      } finally {
        run.letGo();
      }
    }
    return true;
  }

  /** Drops the runs that no snapshot of the set and no future snapshot needs. */
  public void drop(SnapshotSet snapshots) {
    List<VersionRun> unneeded = runs.stream().filter(run -> !run.isNeeded(snapshots)).toList();
    if (!unneeded.isEmpty()) {
      replace(unneeded, null);
    }
  }

  /** Whether {@link #drop} has something to do. */
  public boolean hasUnneeded(SnapshotSet snapshots) {
    return runs.stream().anyMatch(run -> !run.isNeeded(snapshots));
  }

  /** Whether {@link #merge} has something to do. */
  public boolean wantsMerge(SnapshotSet snapshots) {
    return !toMerge(snapshots).isEmpty();
  }

  /**
   * Merges some runs if there are too many, or rewrites a run of which many versions may go.
   *
   * @param between called from time to time, because a merge may take long
   * @return false if there was nothing to merge
   */
  public boolean merge(SnapshotSet snapshots, Runnable between) {
    List<VersionRun> inputs = new ArrayList<>();
    for (VersionRun run : toMerge(snapshots)) {
      if (run.tryHold()) {
        inputs.add(run);
      }
    }
    try {
      if (inputs.isEmpty()) {
        return false;
      }
      replace(inputs, RunMerge.merge(files, inputs, snapshots, index, between));
      return true;
    } finally {
      inputs.forEach(VersionRun::letGo);
    }
  }

  /**
   * Selects similar runs, the smallest first; or, if there are too many runs, the smallest ones; or
   * one run of whose snapshots half have ended.
   */
  private List<VersionRun> toMerge(SnapshotSet snapshots) {
    List<VersionRun> sorted =
        runs.stream().sorted(Comparator.comparingLong(VersionRun::bytes)).toList();
    for (int i = 0; i + TOGETHER <= sorted.size(); i++) {
      List<VersionRun> together = sorted.subList(i, i + TOGETHER);
      if (together.getLast().bytes() <= SIMILAR * together.getFirst().bytes()) {
        return together;
      }
    }
    if (sorted.size() > MOST_RUNS) {
      return sorted.subList(0, TOGETHER);
    }
    return sorted.stream().filter(run -> run.isWorthRewriting(snapshots)).limit(1).toList();
  }

  /** Replaces several runs of the list by one, with a single write for readers of the list. */
  private void replace(Collection<VersionRun> some, @Nullable VersionRun by) {
    List<VersionRun> gone = new ArrayList<>();
    changing.lock();
    try {
      List<VersionRun> next = new ArrayList<>();
      for (VersionRun run : runs) {
        (some.contains(run) ? gone : next).add(run);
      }
      if (by != null) {
        next.add(by);
        takes.accept(by.indexBytes());
      }
      runs = List.copyOf(next);
    } finally {
      changing.unlock();
    }
    for (VersionRun run : gone) {
      givesBack.accept(run.indexBytes());
      run.letGo();
    }
  }

  /** Holds the runs with large values, so that they can be visited later. */
  public Held holdLargeValues() {
    List<VersionRun> held = new ArrayList<>();
    boolean all;
    do {
      held.forEach(VersionRun::letGo);
      held.clear();
      all = true;
      for (VersionRun run : runs) {
        if (run.largeValues() > 0) {
          if (run.tryHold()) {
            held.add(run);
          } else {
            all = false;
          }
        }
      }
    } while (!all);
    return new Held(held);
  }

  /** Held runs, as of one moment. */
  public static final class Held implements AutoCloseable {
    private final List<VersionRun> runs;

    private Held(List<VersionRun> runs) {
      this.runs = runs;
    }

    /** Passes all their versions to the visitor; called on a thread of the engine. */
    public void forEach(Consumer<SpilledVersion> visitor) {
      runs.forEach(run -> run.forEach(visitor));
    }

    /** Ends the holds; only the first call has an effect. */
    @Override
    public void close() {
      runs.forEach(VersionRun::letGo);
    }
  }
}
