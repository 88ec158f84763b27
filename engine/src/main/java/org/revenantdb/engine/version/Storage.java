package org.revenantdb.engine.version;

import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.RoomyPages;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.version.VolatileStore;
import org.revenantdb.latch.Tally;
import org.revenantdb.recovery.log.RecoverySpace;

/**
 * The parts of an open database that rows are read and written with.
 *
 * @param pool pages in memory
 * @param log where changes go first
 * @param space credit for log and pages
 * @param allocator free pages
 * @param roomy pages with room for one more value
 * @param marks pages that the cleaner has to visit
 * @param transactions what became of writers
 * @param horizon what open snapshots need
 * @param versions older versions of rows
 * @param spill files for what is too much for memory
 * @param counters what happened how often
 */
public record Storage(
    BufferPool pool,
    Journal log,
    RecoverySpace space,
    Allocator allocator,
    RoomyPages roomy,
    VersionMarks marks,
    TransactionTable transactions,
    Horizon horizon,
    VolatileStore versions,
    SpillFiles spill,
    Counters counters) {

  /** Gives an extent back, if it is empty, with credit for that; by the cleaner. */
  Allocator.Emptied giveBack(int extent, Unit unit) {
    space.acquireToClean(Allocator.CREDIT, Allocator.PAGES);
    try {
      return allocator.giveBack(extent, unit);
    } finally {
      space.release(Allocator.CREDIT, Allocator.PAGES);
    }
  }

  /** Changes of space maps, for one thread at a time. */
  public MapChanges mapChanges() {
    return new MapChanges(pool, allocator.claims());
  }

  /**
   * What writes large values for one thread at a time.
   *
   * @param mini of that thread
   * @param maps that go with it
   */
  public OverflowWriter overflowWriter(MiniTransaction mini, MapChanges maps) {
    return new OverflowWriter(pool, allocator, roomy, marks, space, mini, maps);
  }

  /**
   * What splits pages for one thread at a time.
   *
   * @param mini of that thread
   * @param maps that go with it
   */
  public Split splitter(MiniTransaction mini, MapChanges maps) {
    return new Split(pool, allocator, marks, mini, maps, counters.splits);
  }

  /** What happened how often since the database was opened. */
  public static final class Counters {
    /** Pages split. */
    public final Tally splits = new Tally();

    /** Pages merged with a neighbour. */
    public final Tally merges = new Tally();

    /** Values written to overflow pages. */
    public final Tally overflowValues = new Tally();

    /** Pages of large values given back. */
    public final Tally overflowPagesFreed = new Tally();

    /** Rows whose aborted version was taken back. */
    public final Tally rowsReverted = new Tally();

    /** Predecessors and deleted rows taken away. */
    public final Tally versionsDropped = new Tally();

    /** Passes of the cleaner. */
    public final Tally cleanerPasses = new Tally();

    /** Pages that the cleaner visited. */
    public final Tally pagesCleaned = new Tally();

    /** Aborted transactions that were forgotten, because nothing of them is left. */
    public final Tally forgotten = new Tally();

    /** Reads that had to wait until what they were given was durable. */
    public final Tally durableReadWaits = new Tally();

    /** How long they waited, in nanoseconds. */
    public final Tally durableReadWaitNanos = new Tally();

    /** Commits that did not wait. */
    public final Tally lazyCommits = new Tally();

    /** Commits that waited until they were durable. */
    public final Tally durableCommits = new Tally();

    /** Checkpoints. */
    public final Tally checkpoints = new Tally();

    /** All zero. */
    public Counters() {}

    /**
     * Commits of those who have written.
     *
     * @return how many
     */
    public long commits() {
      return lazyCommits.sum() + durableCommits.sum();
    }
  }
}
