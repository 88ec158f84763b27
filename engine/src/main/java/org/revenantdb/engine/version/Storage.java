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
 * The parts of an open database that are used to read and write rows.
 *
 * @param pool pages in memory
 * @param log receives changes first
 * @param space credit for log and pages
 * @param allocator free pages
 * @param roomy pages with room for another value
 * @param marks pages that the cleaner has to visit
 * @param transactions the outcomes of writers
 * @param horizon what open snapshots need
 * @param versions older versions of rows
 * @param spill files for data that exceeds its memory
 * @param counters counts of events
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

  /** Frees an extent if it is empty, with credit for that; called by the cleaner. */
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
   * Makes a writer of large values, for one thread at a time.
   *
   * @param mini the mini-transaction of that thread
   * @param maps the map changes of that thread
   */
  public OverflowWriter overflowWriter(MiniTransaction mini, MapChanges maps) {
    return new OverflowWriter(pool, allocator, roomy, marks, space, mini, maps);
  }

  /**
   * Makes an object that splits pages, for one thread at a time.
   *
   * @param mini the mini-transaction of that thread
   * @param maps the map changes of that thread
   */
  public Split splitter(MiniTransaction mini, MapChanges maps) {
    return new Split(pool, allocator, marks, mini, maps, counters.splits);
  }

  /** Counts of events since the database was opened. */
  public static final class Counters {
    /** Pages split. */
    public final Tally splits = new Tally();

    /** Pages merged with a neighbour. */
    public final Tally merges = new Tally();

    /** Values written to overflow pages. */
    public final Tally overflowValues = new Tally();

    /** Pages of large values that were freed. */
    public final Tally overflowPagesFreed = new Tally();

    /** Rows whose aborted version was reverted. */
    public final Tally rowsReverted = new Tally();

    /** Predecessors and deleted rows that were removed. */
    public final Tally versionsDropped = new Tally();

    /** Passes of the cleaner. */
    public final Tally cleanerPasses = new Tally();

    /** Pages that the cleaner visited. */
    public final Tally pagesCleaned = new Tally();

    /** Aborted transactions that were forgotten because all their rows were removed. */
    public final Tally forgotten = new Tally();

    /** Reads that had to wait until their results were durable. */
    public final Tally durableReadWaits = new Tally();

    /** How long they waited, in nanoseconds. */
    public final Tally durableReadWaitNanos = new Tally();

    /** Commits that did not wait. */
    public final Tally lazyCommits = new Tally();

    /** Commits that waited until they were durable. */
    public final Tally durableCommits = new Tally();

    /** Checkpoints. */
    public final Tally checkpoints = new Tally();

    /** Makes counters of zero. */
    public Counters() {}

    /**
     * The commits of transactions that have written.
     *
     * @return their number
     */
    public long commits() {
      return lazyCommits.sum() + durableCommits.sum();
    }
  }
}
